import { Button } from '@mantine/core'
import { type FormEvent, useEffect, useId, useState } from 'react'
import type { Contribution, Link } from '../../../src/contract/links.ts'
import { FileName } from '../../shared/file-name.tsx'
import { fill } from '../../shared/words.ts'
import { useListAttempt } from '../dialogs/use-attempt.ts'
import { useOneAtATime } from '../dialogs/use-one-at-a-time.ts'
import { useFiles } from '../files-context.ts'
import { notReached } from '../network-text.ts'
import { useTimes } from '../use-times.ts'
import { LinkLog } from './link-log.tsx'
import { changeLink, fetchContributions, type LinkChange } from './links-client.ts'

interface LinkDetailsProps {
  readonly link: Link
  readonly changed: (link: Link) => void
}

/** What came by a link and happened to it, and the terms that can still be changed. */
export function LinkDetails({ link, changed }: LinkDetailsProps) {
  return (
    <li className="link-details">
      {link.uploads === null ? null : <Received link={link} />}
      <LinkLog link={link} />
      {link.state === 'revoked' ? null : <ChangeForm changed={changed} link={link} />}
    </li>
  )
}

function Received({ link }: { link: Link }) {
  const { texts } = useFiles()
  const { links } = texts
  const [came, setCame] = useState<readonly Contribution[] | null>(null)
  const [pages, setPages] = useState({ read: 0, all: 1 })
  const [hasFailed, setHasFailed] = useState(false)
  const oneAtATime = useOneAtATime()

  function read(page: number): void {
    setHasFailed(false)
    oneAtATime(() =>
      fetchContributions(link, page).then(
        (found) => {
          setCame((before) => [...(before ?? []), ...found.contributions])
          setPages({ read: page, all: found.pages })
        },
        () => setHasFailed(true),
      ),
    )
  }

  // Read when the details are opened.
  useEffect(() => read(1), [])

  return (
    <>
      <h3>{links.came}</h3>
      {hasFailed ? (
        <p className="failure small" role="alert">
          {notReached(texts)}
        </p>
      ) : null}
      {came?.length === 0 ? <p className="small quiet">{links.nothingCame}</p> : null}
      <ul>
        {came?.map((contribution) => (
          <ReceivedRow
            contribution={contribution}
            key={`${contribution.file?.id ?? contribution.name} ${contribution.created_at}`}
          />
        ))}
      </ul>
      {pages.read < pages.all && came !== null ? (
        <Button onClick={() => read(pages.read + 1)} size="compact-md" variant="default">
          {links.more}
        </Button>
      ) : null}
    </>
  )
}

function ReceivedRow({ contribution }: { contribution: Contribution }) {
  const { texts, words } = useFiles()
  const { links } = texts
  const times = useTimes()
  const { name, size, file, sender, address, reference, created_at } = contribution
  const said = [sender, address, reference].filter((answer) => answer !== null && answer !== '')
  const facts = [...said, words.size(size), file === null ? links.onItsWay : times.long(created_at)]
  return (
    <li>
      <FileName name={name} />
      <span className="small quiet">
        <bdi>{facts.join(' · ')}</bdi>
      </span>
    </li>
  )
}

/** In days from now. */
const ENDS = [1, 7, 30] as const

function ChangeForm({ link, changed }: LinkDetailsProps) {
  const { texts, words, commands } = useFiles()
  const { share, links, dialogs } = texts
  const times = useTimes()
  const [end, setEnd] = useState('kept')
  const [name, setName] = useState(link.name ?? '')
  const [message, setMessage] = useState(link.message ?? '')
  const { problem, isBusy, attempt } = useListAttempt()
  const id = useId()
  const kept = link.ends_at === null ? share.endless : fill(links.keptEnd, { day: times.long(link.ends_at) })

  function submit(event: FormEvent): void {
    event.preventDefault()
    const change: LinkChange = {
      name: name.trim() || null,
      message: message.trim() || null,
      ...(end === 'kept' ? {} : { days: end === '' ? null : Number(end) }),
    }
    void attempt(
      async () => {
        changed(await changeLink(link, change))
        commands.say(fill(texts.announced.saved, { name: link.title }))
      },
      () => setEnd('kept'),
    )
  }

  return (
    <form className="dialog-form" onSubmit={submit}>
      <div className="field">
        <label htmlFor={`${id}-end`}>{share.ends}</label>
        <select id={`${id}-end`} onChange={({ currentTarget }) => setEnd(currentTarget.value)} value={end}>
          <option value="kept">{kept}</option>
          {ENDS.map((days) => (
            <option key={days} value={days}>
              {words.count(days, links.daysFromNow)}
            </option>
          ))}
          {link.ends_at === null ? null : <option value="">{share.endless}</option>}
        </select>
      </div>
      <div className="field">
        <label htmlFor={`${id}-name`}>{share.name}</label>
        <input
          id={`${id}-name`}
          maxLength={100}
          onChange={({ currentTarget }) => setName(currentTarget.value)}
          value={name}
        />
      </div>
      <div className="field">
        <label htmlFor={`${id}-message`}>{share.message}</label>
        <textarea
          id={`${id}-message`}
          maxLength={2000}
          onChange={({ currentTarget }) => setMessage(currentTarget.value)}
          rows={3}
          value={message}
        />
      </div>
      {problem === null ? null : (
        <p className="failure small" role="alert">
          {problem}
        </p>
      )}
      <div className="dialog-actions">
        <Button disabled={isBusy} type="submit">
          {dialogs.save}
        </Button>
      </div>
    </form>
  )
}
