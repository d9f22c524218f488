import { Loaded } from '../shared/app/loaded.tsx'
import { PageSection } from '../shared/app/part.tsx'
import { useAnswer } from '../shared/app/use-answer.ts'
import { fill } from '../shared/words.ts'
import { useAdmin } from './admin-context.ts'
import { fetchNodes } from './client.ts'
import { useMoments } from './use-moments.ts'

/** The servers that share the database. */
export function NodesSection() {
  const { jobs } = useAdmin().texts
  const moment = useMoments()
  const { answered, again } = useAnswer(fetchNodes)
  return (
    <PageSection title={jobs.nodes} why={jobs.nodesWhy}>
      <Loaded again={again} answered={answered}>
        {(nodes) => (
          <ul className="plain-rows">
            {nodes.map(({ id, started_at, host, address, version, is_this }) => (
              <li key={id}>
                <div className="plain-words">
                  <span className="row-name">
                    <code>{id}</code>
                    {is_this ? <span className="badge small">{jobs.thisNode}</span> : null}
                  </span>
                  <span className="small">{`${host} · ${address} · Holdfast ${version}`}</span>
                  <span className="small quiet">{fill(jobs.nodeSince, { time: moment(started_at) })}</span>
                </div>
              </li>
            ))}
          </ul>
        )}
      </Loaded>
    </PageSection>
  )
}
