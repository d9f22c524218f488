import { App } from '../shared/app.tsx'
import { AccountsSection } from './accounts-section.tsx'
import { AdminContext } from './admin-context.ts'
import { AuditSection } from './audit-section.tsx'
import type { AdminPageData, Section } from './data.ts'
import { FilesSection } from './files-section.tsx'
import { JobsSection } from './jobs-section.tsx'
import { NodesSection } from './nodes-section.tsx'
import { NoticeSection } from './notice-section.tsx'
import { OverviewSection } from './overview-section.tsx'
import { RefusedSection } from './refused-section.tsx'
import { ReportsSection } from './reports-section.tsx'
import { SettingsSection } from './settings-section.tsx'

/** One page of administration. */
export function AdminApp({ data }: { data: AdminPageData }) {
  return (
    <App locale={data.locale} texts={data.texts.common}>
      <AdminContext value={data}>
        <SectionOf section={data.section} />
      </AdminContext>
    </App>
  )
}

function SectionOf({ section }: { section: Section }) {
  switch (section) {
    case 'overview':
      return <OverviewSection />
    case 'accounts':
      return <AccountsSection />
    case 'reports':
      return (
        <>
          <ReportsSection />
          <RefusedSection />
        </>
      )
    case 'files':
      return <FilesSection />
    case 'jobs':
      return (
        <>
          <JobsSection />
          <NodesSection />
        </>
      )
    case 'notice':
      return <NoticeSection />
    case 'settings':
      return <SettingsSection />
    case 'audit':
      return <AuditSection />
  }
}
