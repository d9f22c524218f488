import { Button } from '@mantine/core'
import { useEffect, useState } from 'react'
import type { Link, LinkEvent } from '../../../src/contract/links.ts'
import { FileName } from '../../shared/file-name.tsx'
import { useOneAtATime } from '../dialogs/use-one-at-a-time.ts'
import { useFiles } from '../files-context.ts'
import { notReached } from '../network-text.ts'
import { useTimes } from '../use-times.ts'
import { fetchLog } from './links-client.ts'

/** Events have no names of their own. */
interface KeyedEvent {
  readonly event: LinkEvent
  readonly key: string
}

/** What happened to a link. What came by it is listed elsewhere, with what its senders said. */
export function LinkLog({ link }: { link: Link }) {
  const { texts } = useFiles()
  const { links } = texts
  const [events, setEvents] = useState<readonly KeyedEvent[] | null>(null)
  const [pages, setPages] = useState({ read: 0, all: 1 })
  const [hasFailed, setHasFailed] = useState(false)
  const oneAtATime = useOneAtATime()

  function read(page: number): void {
    setHasFailed(false)
    oneAtATime(() =>
      fetchLog(link, page).then(
        (found) => {
          const more = found.events.map((event, at) => ({ event, key: `${page}.${at}` }))
          setEvents((before) => [...(before ?? []), ...more])
          setPages({ read: page, all: found.pages })
        },
        () => setHasFailed(true),
      ),
    )
  }

  // Read when the details are opened.
  useEffect(() => read(1), [])

  const shown = events?.filter(({ event }) => event.kind !== 'link.arrived') ?? []
  if (events !== null && shown.length === 0 && pages.read >= pages.all && !hasFailed) return null
  return (
    <>
      <h3>{links.happened}</h3>
      {hasFailed ? (
        <p className="failure small" role="alert">
          {notReached(texts)}
        </p>
      ) : null}
      <ul>
        {shown.map(({ event, key }) => (
          <EventRow event={event} key={key} />
        ))}
      </ul>
      {pages.read < pages.all && events !== null ? (
        <Button onClick={() => read(pages.read + 1)} size="compact-md" variant="default">
          {links.more}
        </Button>
      ) : null}
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
