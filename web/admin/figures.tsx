import { fill } from '../shared/words.ts'
import { useAdmin } from './admin-context.ts'
import { pathOf } from './data.ts'
import type { Day, Present } from './shapes.ts'

interface FiguresProps {
  readonly now: Present
  readonly today: Day | undefined
  /** Jobs that were. */
  readonly setAside: number
}

/** How it stands at this moment; each number leads to what is behind it. */
export function Figures({ now, today, setAside }: FiguresProps) {
  const { texts, words } = useAdmin()
  const { overview, common } = texts
  const guests = {
    files: words.count(now.guests.files, common.files),
    size: words.size(now.guests.storage_used),
  }
  const besides = { reserved: words.size(now.storage_reserved), bins: words.size(now.storage_in_bins) }
  return (
    <ul className="figures">
      <Figure name={overview.reports} number={words.number(now.reports_open)} to={pathOf('reports')} />
      <Figure name={overview.accounts} number={words.number(now.accounts)} to={pathOf('accounts')} />
      <Figure
        detail={fill(overview.guests, guests)}
        name={overview.files}
        number={words.number(now.files)}
        to={pathOf('files')}
      />
      <Figure
        detail={fill(overview.storedBesides, besides)}
        name={overview.stored}
        number={words.size(now.storage_used)}
        to={`${pathOf('files')}?sort=size`}
      />
      {now.disk_free === null ? null : (
        <Figure name={overview.free} number={words.size(now.disk_free)} to={pathOf('settings')} />
      )}
      <Figure name={overview.jobs} number={words.number(setAside)} to={pathOf('jobs')} />
      <Figure name={overview.requests} number={words.number(today?.requests ?? 0)} to="#over-time" />
    </ul>
  )
}

interface FigureProps {
  readonly name: string
  readonly number: string
  readonly detail?: string
  /** A path, or a place on this page. */
  readonly to: string
}

function Figure({ name, number, detail, to }: FigureProps) {
  return (
    <li>
      <a href={to}>
        <span className="small quiet">{name}</span>
        <span className="figure-number">{number}</span>
        {detail === undefined ? null : <span className="small quiet">{detail}</span>}
      </a>
    </li>
  )
}
