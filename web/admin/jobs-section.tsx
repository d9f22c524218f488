import type { BackgroundJob } from '../../src/contract/operations.ts'
import { Loaded } from '../shared/app/loaded.tsx'
import { PageSection } from '../shared/app/part.tsx'
import { ProblemMessage } from '../shared/app/problem.tsx'
import { RowButton } from '../shared/app/row-button.tsx'
import { useAnswer } from '../shared/app/use-answer.ts'
import { useAttempt } from '../shared/app/use-attempt.ts'
import { fill } from '../shared/words.ts'
import { useAdmin } from './admin-context.ts'
import { fetchJobs, retryFailedJob } from './client.ts'
import { useMoments } from './use-moments.ts'

/** What runs by itself. */
export function JobsSection() {
  const { texts, words } = useAdmin()
  const { answered, again } = useAnswer(fetchJobs)
  return (
    <PageSection title={texts.jobs.title} why={texts.jobs.why}>
      <Loaded again={again} answered={answered}>
        {({ jobs, thumbnails_waiting: thumbnails }) => (
          <>
            <p>{words.count(thumbnails, texts.jobs.thumbnails)}</p>
            {jobs.length === 0 ? <p className="quiet">{texts.jobs.empty}</p> : null}
            <ul className="plain-rows">
              {jobs.map((job) => (
                <JobRow changed={again} job={job} key={job.name} />
              ))}
            </ul>
          </>
        )}
      </Loaded>
    </PageSection>
  )
}

function JobRow({ job, changed }: { job: BackgroundJob; changed: () => Promise<void> }) {
  const { texts, say } = useAdmin()
  const { jobs } = texts
  const moment = useMoments()
  const { problem, isBusy, attempt } = useAttempt()
  const { name, state, node, ended_at: ended } = job

  function retry(): void {
    void attempt(
      () => retryFailedJob(name),
      () => {
        say(jobs.retried)
        return changed()
      },
    )
  }

  return (
    <li>
      <div className="plain-words">
        <span className="row-name">
          {jobs.names[name] ?? <span lang="en">{name}</span>}
          {state === 'waiting' ? null : (
            <span className={state === 'set aside' ? 'badge-bad small' : 'badge small'}>
              {jobs.states[state]}
            </span>
          )}
        </span>
        {/* As it is called in the log. */}
        {jobs.names[name] === undefined ? null : (
          <code className="small quiet" lang="en">
            {name}
          </code>
        )}
        <span className="small quiet">
          {ended === null ? jobs.neverEnded : fill(jobs.ended, { time: moment(ended) })}
          {node === null ? null : ` · ${fill(jobs.onNode, { node })}`}
        </span>
        <JobFailure job={job} />
        <ProblemMessage text={problem} />
      </div>
      {state === 'set aside' ? (
        <RowButton
          label={fill(jobs.retryOf, { name: jobs.names[name] ?? name })}
          act={retry}
          isDisabled={isBusy}
          text={jobs.retry}
        />
      ) : null}
    </li>
  )
}

/** What went wrong the last time, in the words of the server. */
function JobFailure({ job }: { job: BackgroundJob }) {
  const { texts, words } = useAdmin()
  const { jobs } = texts
  const moment = useMoments()
  if (job.failures === 0) return null
  return (
    <span className="small failure">
      {words.count(job.failures, jobs.failures)}
      {job.failed_at === null ? null : `, ${fill(jobs.failedAt, { time: moment(job.failed_at) })}`}
      {job.failure === null ? null : (
        <>
          {': '}
          <span lang="en">{job.failure}</span>
        </>
      )}
    </span>
  )
}
