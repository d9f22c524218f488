import type { Link, LinkEvent } from '../../../src/contract/links.ts'
import { ProblemMessage } from '../../shared/app/problem.tsx'
import { FileName } from '../../shared/file-name.tsx'
import { useFiles } from '../files-context.ts'
import { useTimes } from '../use-times.ts'
import { fetchLog } from './links-client.ts'
import { MoreButton, useReadPages } from './read-pages.tsx'

/** Events have no ids. */
interface KeyedEvent {
  readonly event: LinkEvent
  readonly key: string
}

/** Without contributions, which are listed with their senders' answers. */
export function LinkLog({ link }: { link: Link }) {
  const { texts } = useFiles()
  const { links } = texts
  const log = useReadPages<KeyedEvent>((page) =>
    fetchLog(link, page).then(({ events, pages }) => ({
      items: events.map((event, at) => ({ event, key: `${page}.${at}` })),
      pages,
    })),
  )
  const { items, hasMore, failure } = log

  const shown = items?.filter(({ event }) => event.kind !== 'link.arrived') ?? []
  if (items !== null && shown.length === 0 && !hasMore && failure === null) return null
  return (
    <>
      <h3>{links.happened}</h3>
      <ProblemMessage isSmall text={failure} />
      <ul>
        {shown.map(({ event, key }) => (
          <EventRow event={event} key={key} />
        ))}
      </ul>
      <MoreButton of={log} />
    </>
  )
}

function EventRow({ event }: { event: LinkEvent }) {
  const { texts, words } = useFiles()
  const { links } = texts
  const times = useTimes()
  const { kind, at, file, bytes, times: count, reason, address } = event
  const whys = { time: null, downloads: links.usedUp, full: links.full, revoked: links.revoked }
  const why = reason === null ? null : whys[reason]
  const what = count > 1 ? words.count(count, links.manyDownloads) : (links.events[kind] ?? kind)
  const facts = [why, bytes === null ? null : words.size(bytes), times.long(at), address]
  return (
    <li>
      <span>{what}</span>
      {file === null ? null : <FileName name={file.name} />}
      <span className="small quiet">
        <bdi>{facts.filter((fact) => fact !== null).join(' · ')}</bdi>
      </span>
    </li>
  )
}
