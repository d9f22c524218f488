import { Part } from '../shared/part.tsx'
import { askedChoice } from './address.ts'
import { useAdmin } from './admin-context.ts'
import { Choices } from './choices.tsx'
import { fetchReports } from './client.ts'
import { PagedList } from './paged-list.tsx'
import { ReportRow } from './report-row.tsx'

const WHICH = ['open', 'closed', 'all'] as const

const which = askedChoice('state', WHICH)
const fetchPage = (page: number) => fetchReports(which, page)

/** What people have against files. */
export function ReportsSection() {
  const { reports } = useAdmin().texts
  return (
    <Part title={reports.title} why={reports.why}>
      <Choices choices={WHICH} chosen={which} label={reports.choose} name="state" texts={reports.which} />
      <PagedList empty={reports.empty} fetchPage={fetchPage}>
        {(report, changed) => <ReportRow changed={changed} key={report.id} report={report} />}
      </PagedList>
    </Part>
  )
}
