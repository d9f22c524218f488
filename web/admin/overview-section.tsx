import { useCallback } from 'react'
import { Loaded } from '../shared/loaded.tsx'
import { Part } from '../shared/part.tsx'
import { useAnswer } from '../shared/use-answer.ts'
import { askedChoice, withAsked } from './address.ts'
import { useAdmin } from './admin-context.ts'
import { fetchJobs, fetchStatistics } from './client.ts'
import { Figures } from './figures.tsx'
import { OutageList } from './outage-list.tsx'
import { OverTime } from './over-time.tsx'

/** In days. */
const SPANS = ['30', '7', '90', '365'] as const

/** How it stands, and how it went. */
export function OverviewSection() {
  const { texts, words } = useAdmin()
  const { overview } = texts
  const span = askedChoice('days', SPANS)
  const fetchAll = useCallback(async () => {
    const [statistics, { jobs }] = await Promise.all([fetchStatistics(Number(span)), fetchJobs()])
    return { statistics, setAside: jobs.filter(({ state }) => state === 'set aside').length }
  }, [span])
  const { answered, again } = useAnswer(fetchAll)
  return (
    <>
      <Part title={overview.title}>
        <Loaded again={again} answered={answered}>
          {({ statistics, setAside }) => (
            <>
              <Figures now={statistics.now} setAside={setAside} today={statistics.days.at(-1)} />
              <OutageList outages={statistics.outages} />
            </>
          )}
        </Loaded>
      </Part>
      <Part title={overview.time} why={overview.timeWhy}>
        <nav aria-label={overview.time} className="page-nav">
          {SPANS.toSorted((one, other) => Number(one) - Number(other)).map((days) => (
            <a aria-current={days === span ? 'true' : undefined} href={withAsked('days', days)} key={days}>
              {words.count(Number(days), overview.span)}
            </a>
          ))}
        </nav>
        <Loaded again={again} answered={answered}>
          {({ statistics }) => <OverTime {...statistics} />}
        </Loaded>
      </Part>
    </>
  )
}
