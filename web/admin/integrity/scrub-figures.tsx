import type { Integrity } from '../../../src/contract/operations.ts'
import { fill } from '../../shared/words.ts'
import { useAdmin } from '../admin-context.ts'
import { adminPath } from '../data.ts'
import { Figure } from '../figure.tsx'

type Scrub = NonNullable<Integrity['scrub']>

const DAY = 86_400_000

/** How far the server is with reading stored bytes again; each number leads to what is behind it. */
export function ScrubFigures({ scrub, contents_damaged: damaged, contents_repaired: repaired }: Integrity) {
  const { texts, words } = useAdmin()
  const { integrity } = texts
  const filesOf = (state: string) => `${adminPath('integrity')}?state=${state}`
  return (
    <>
      <p className="quiet">
        {scrub === null
          ? integrity.off
          : fill(words.count(scrub.days, integrity.why), { rate: words.size(scrub.rate) })}
      </p>
      <ul className="figures">
        <Figure name={integrity.damaged} number={words.number(damaged)} to={filesOf('damaged')} />
        <Figure name={integrity.repaired} number={words.number(repaired)} to={filesOf('repaired')} />
        {scrub === null ? null : <Reading scrub={scrub} />}
      </ul>
      {scrub === null ? null : <ScrubJob scrub={scrub} />}
    </>
  )
}

function Reading({ scrub }: { scrub: Scrub }) {
  const { texts, words } = useAdmin()
  const { integrity } = texts
  const { due_contents: contents, due_bytes: bytes, due_exact: isAll, oldest_unverified_at: oldest } = scrub
  const size = words.size(bytes)
  const days = oldest === null ? 0 : Math.floor((Date.now() - Date.parse(oldest)) / DAY)
  return (
    <>
      <Figure
        detail={contents === 0 ? integrity.nothingDue : isAll ? size : fill(integrity.moreBytes, { size })}
        name={integrity.due}
        number={isAll ? words.number(contents) : fill(integrity.moreThan, { number: words.number(contents) })}
        to={adminPath('jobs')}
      />
      <Figure
        detail={integrity.oldestWhy}
        name={integrity.oldest}
        number={
          oldest === null ? integrity.none : days < 1 ? integrity.today : words.count(days, integrity.days)
        }
        to={adminPath('settings')}
      />
    </>
  )
}

/** What the job that reads does now, and why it does not. */
function ScrubJob({ scrub }: { scrub: Scrub }) {
  const { state, failure, due_contents: due, disk_busy: isBusy } = scrub
  const { integrity, jobs } = useAdmin().texts
  const waits = isBusy && due > 0 && state !== 'set aside'
  return (
    <p>
      {waits ? integrity.busy : integrity.states[state]} <a href={adminPath('jobs')}>{jobs.title}</a>
      {failure === null ? null : (
        <span className="failure" role="alert">
          {' '}
          {integrity.failed} <span lang="en">{failure}</span>
        </span>
      )}
    </p>
  )
}
