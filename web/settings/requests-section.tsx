import type { DayOfRequests } from '../../src/contract/account.ts'
import { Loaded } from '../shared/app/loaded.tsx'
import { PageSection } from '../shared/app/part.tsx'
import { useAnswer } from '../shared/app/use-answer.ts'
import { Chart } from '../shared/charts/chart.tsx'
import { useShortDays } from '../shared/charts/use-short-days.ts'
import { fetchRequests } from './client.ts'
import { useSettings } from './settings-context.ts'

/** How many requests were made, today and before. */
export function RequestsSection() {
  const { requests } = useSettings().texts
  const { answered, again } = useAnswer(fetchRequests)
  return (
    <PageSection title={requests.title} why={requests.why}>
      <Loaded again={again} answered={answered}>
        {(days) => <Requests days={days} />}
      </Loaded>
    </PageSection>
  )
}

function Requests({ days }: { days: readonly DayOfRequests[] }) {
  const { texts, words } = useSettings()
  const { requests, common } = texts
  const shortDay = useShortDays()
  const values = days.map((each) => each.requests)
  return (
    <>
      <p className="figure">
        <span>{words.count(values.at(-1) ?? 0, requests.today)}</span>
        <span className="quiet">
          {words.count(
            values.reduce((sum, each) => sum + each, 0),
            requests.inAll,
          )}
        </span>
      </p>
      <Chart
        asTable={common.asTable}
        format={words.number}
        labels={days.map(({ day }) => shortDay(day))}
        labelsAre={requests.day}
        measure="count"
        series={[{ name: requests.requests, values }]}
        title={requests.chart}
      />
    </>
  )
}
