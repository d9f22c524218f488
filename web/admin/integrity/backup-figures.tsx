import type { Integrity, OwnRun } from '../../../src/contract/operations.ts'
import { fill } from '../../shared/words.ts'
import { useAdmin } from '../admin-context.ts'
import { adminPath } from '../data.ts'
import { Figure } from '../figure.tsx'
import { useMoments } from '../use-moments.ts'

/** When the server last made a backup, and whether it can be restored. */
export function BackupFigures({ backup, drill }: Integrity) {
  const { backups } = useAdmin().texts.integrity
  if (backup === null) return <p className="quiet">{backups.off}</p>
  return (
    <>
      <p className="quiet">{fill(backups.why, { place: backup.place })}</p>
      <ul className="figures">
        <Newest backup={backup} />
        {drill === null ? null : <Drill drill={drill} />}
      </ul>
      <Job run="backup" {...backup} />
      {drill === null ? <p className="quiet">{backups.drillOff}</p> : <Job run="drill" {...drill} />}
    </>
  )
}

function Newest({ backup: { taken_at: takenAt, files, bytes } }: { backup: OwnRun }) {
  const { texts, words } = useAdmin()
  const { backups } = texts.integrity
  const moment = useMoments()
  if (takenAt === null)
    return <Figure isWide={true} name={backups.last} number={backups.never} to={adminPath('jobs')} />
  const detail = fill(words.count(files, backups.made), { size: words.size(bytes) })
  return (
    <Figure
      detail={detail}
      isWide={true}
      name={backups.last}
      number={moment(takenAt)}
      to={adminPath('jobs')}
    />
  )
}

function Drill({ drill: { ended_at: endedAt, files, wrong, failure } }: { drill: OwnRun }) {
  const { texts, words } = useAdmin()
  const { backups } = texts.integrity
  const moment = useMoments()
  const answer =
    wrong > 0 ? backups.bad : endedAt === null || failure !== null ? backups.unknown : backups.good
  const about = { name: backups.drill, number: answer, isWide: true, to: adminPath('jobs') }
  if (endedAt === null) return <Figure {...about} />
  const detail = wrong > 0 ? words.count(wrong, backups.wrong) : words.count(files, backups.read)
  return <Figure {...about} detail={fill(detail, { time: moment(endedAt) })} />
}

/** What the job does now, and why the last try failed. */
function Job({ run, state, failure, failed_at: failedAt }: OwnRun & { run: 'backup' | 'drill' }) {
  const { backups } = useAdmin().texts.integrity
  const moment = useMoments()
  return (
    <p>
      {backups.states[run][state]}
      {failure === null ? null : (
        <span className="failure" role="alert">
          {' '}
          {fill(backups.failed[run], { time: failedAt === null ? '' : moment(failedAt) })}{' '}
          <span lang="en">{failure}</span>
        </span>
      )}
    </p>
  )
}
