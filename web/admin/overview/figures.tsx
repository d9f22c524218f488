import type { StatisticsDay, StatisticsNow } from '../../../src/contract/operations.ts'
import { fill } from '../../shared/words.ts'
import { useAdmin } from '../admin-context.ts'
import { adminPath } from '../data.ts'
import { Figure } from '../figure.tsx'

interface FiguresProps {
  readonly now: StatisticsNow
  readonly today: StatisticsDay | undefined
  /** Jobs that were. */
  readonly setAside: number
}

/** How it stands at this moment; each number leads to what is behind it. */
export function FigureList({ now, today, setAside }: FiguresProps) {
  const { texts, words } = useAdmin()
  const { overview, common } = texts
  const guests = {
    files: words.count(now.guests.files, common.files),
    size: words.size(now.guests.storage_used),
  }
  const besides = { reserved: words.size(now.storage_reserved), bins: words.size(now.storage_in_bins) }
  return (
    <ul className="figures">
      <Figure name={overview.reports} number={words.number(now.reports_open)} to={adminPath('reports')} />
      <Figure name={overview.accounts} number={words.number(now.accounts)} to={adminPath('accounts')} />
      <Figure
        detail={fill(overview.guests, guests)}
        isWide={now.disk_free === null}
        name={overview.files}
        number={words.number(now.files)}
        to={adminPath('files')}
      />
      <Figure name={overview.requests} number={words.number(today?.requests ?? 0)} to="#over-time" />
      <Figure
        detail={fill(overview.storedBesides, besides)}
        isWide
        name={overview.stored}
        number={words.size(now.storage_used)}
        to={`${adminPath('files')}?sort=size`}
      />
      {now.disk_free === null ? null : (
        <Figure name={overview.free} number={words.size(now.disk_free)} to={adminPath('settings')} />
      )}
      <Figure name={overview.jobs} number={words.number(setAside)} to={adminPath('jobs')} />
    </ul>
  )
}
