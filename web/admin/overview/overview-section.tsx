import { useCallback } from 'react'
import type { StatisticsNow } from '../../../src/contract/operations.ts'
import { Loaded } from '../../shared/app/loaded.tsx'
import { PageSection } from '../../shared/app/part.tsx'
import { useAnswer } from '../../shared/app/use-answer.ts'
import { fill } from '../../shared/words.ts'
import { useAdmin } from '../admin-context.ts'
import { fetchJobs, fetchStatistics } from '../client.ts'
import { adminPath } from '../data.ts'
import { askedChoice, withAsked } from '../lists/address.ts'
import { FigureList } from './figures.tsx'
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
      <PageSection title={overview.title}>
        <Loaded again={again} answered={answered}>
          {({ statistics, setAside }) => (
            <>
              {statistics.now.contents_damaged === 0 ? null : (
                <p className="failure" role="alert">
                  {words.count(statistics.now.contents_damaged, overview.damaged)}{' '}
                  <a href={adminPath('integrity')}>{overview.whichDamaged}</a>
                </p>
              )}
              <ProxyWarning now={statistics.now} />
              <FigureList now={statistics.now} setAside={setAside} today={statistics.days.at(-1)} />
              <p className="quiet">{fill(overview.version, { version: statistics.version })}</p>
              <OutageList outages={statistics.outages} />
            </>
          )}
        </Loaded>
      </PageSection>
      <PageSection title={overview.time} why={overview.timeWhy}>
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
      </PageSection>
    </>
  )
}

/** Names the newest proxy that nobody configured, and the setting for all of them; nothing where there is none. */
function ProxyWarning({ now }: { readonly now: StatisticsNow }) {
  const { overview } = useAdmin().texts
  const last = now.unknown_proxies.at(-1)
  if (last === undefined) return null
  const peers = now.unknown_proxies.map(({ peer }) => peer).join(',')
  return (
    <p className="failure" role="alert">
      {fill(overview.unknownProxy, { ...last, setting: `HOLDFAST_TRUSTED_PROXIES=${peers}` })}
    </p>
  )
}
