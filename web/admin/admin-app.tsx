import { App } from '../shared/app/app.tsx'
import { AccountList } from './accounts/account-list.tsx'
import { AccountView } from './accounts/account-view.tsx'
import { AdminContext } from './admin-context.ts'
import { AppearanceSection } from './appearance/appearance-section.tsx'
import { AuditSection } from './audit-section.tsx'
import type { AdminPageData, AdminSection } from './data.ts'
import { DoctorSection } from './doctor-section.tsx'
import { FilesSection } from './files-section.tsx'
import { IntegritySection } from './integrity/integrity-section.tsx'
import { JobsSection } from './jobs-section.tsx'
import { askedPage, askedText } from './lists/address.ts'
import { NodesSection } from './nodes-section.tsx'
import { NoticeSection } from './notice/notice-section.tsx'
import { OverviewSection } from './overview/overview-section.tsx'
import { RefusedSection } from './reports/refused-section.tsx'
import { ReportsSection } from './reports/reports-section.tsx'
import { AdminSettings } from './settings-section.tsx'

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

function SectionOf({ section }: { section: AdminSection }) {
  switch (section) {
    case 'overview':
      return <OverviewSection />
    case 'accounts':
      return askedText('account') === '' ? <AccountList /> : <AccountView id={askedPage('account')} />
    case 'reports':
      return (
        <>
          <ReportsSection />
          <RefusedSection />
        </>
      )
    case 'files':
      return <FilesSection />
    case 'integrity':
      return <IntegritySection />
    case 'jobs':
      return (
        <>
          <JobsSection />
          <NodesSection />
        </>
      )
    case 'notice':
      return <NoticeSection />
    case 'appearance':
      return <AppearanceSection />
    case 'settings':
      return <AdminSettings />
    case 'doctor':
      return <DoctorSection />
    case 'audit':
      return <AuditSection />
  }
}
