import { PageSection } from '../../shared/app/part.tsx'
import { useAdmin } from '../admin-context.ts'
import { fetchReports } from '../client.ts'
import { askedChoice } from '../lists/address.ts'
import { Choices } from '../lists/choices.tsx'
import { PagedList } from '../lists/paged-list.tsx'
import { ReportLine } from './report-row.tsx'

const WHICH = ['open', 'closed', 'all'] as const

const which = askedChoice('state', WHICH)
const fetchPage = (page: number) => fetchReports(which, page)

/** What people have against files. */
export function ReportsSection() {
  const { reports } = useAdmin().texts
  return (
    <PageSection title={reports.title} why={reports.why}>
      <Choices choices={WHICH} chosen={which} label={reports.choose} name="state" texts={reports.which} />
      <PagedList empty={reports.empty} fetchPage={fetchPage}>
        {(report, changed) => <ReportLine changed={changed} key={report.id} report={report} />}
      </PagedList>
    </PageSection>
  )
}
