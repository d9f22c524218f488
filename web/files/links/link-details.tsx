import { Button } from '@mantine/core'
import { type FormEvent, useId, useState } from 'react'
import type { Contribution, Link } from '../../../src/contract/links.ts'
import { ProblemMessage } from '../../shared/app/problem.tsx'
import { FileName } from '../../shared/file-name.tsx'
import { fill } from '../../shared/words.ts'
import { useListAttempt } from '../dialogs/use-attempt.ts'
import { useFiles } from '../files-context.ts'
import { useTimes } from '../use-times.ts'
import { LinkLog } from './link-log.tsx'
import { changeLink, fetchContributions, type LinkChange } from './links-client.ts'
import { MoreButton, useReadPages } from './read-pages.tsx'

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
  const came = useReadPages((page) =>
    fetchContributions(link, page).then(({ contributions, pages }) => ({ items: contributions, pages })),
  )

  return (
    <>
      <h3>{links.came}</h3>
      <ProblemMessage isSmall text={came.failure} />
      {came.items?.length === 0 ? <p className="small quiet">{links.nothingCame}</p> : null}
      <ul>
        {came.items?.map((contribution) => (
          <ReceivedRow
            contribution={contribution}
            key={`${contribution.file?.id ?? contribution.name} ${contribution.created_at}`}
          />
        ))}
      </ul>
      <MoreButton of={came} />
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
      <ProblemMessage isSmall text={problem} />
      <div className="dialog-actions">
        <Button disabled={isBusy} type="submit">
          {dialogs.save}
        </Button>
      </div>
    </form>
  )
}
