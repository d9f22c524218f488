import { Button } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import type { Contribution, Link } from '../../../src/contract/links.ts'
import { ProblemMessage } from '../../shared/app/problem.tsx'
import { type End, momentOf } from '../../shared/end.ts'
import { EndField } from '../../shared/end-field.tsx'
import { FileName } from '../../shared/file-name.tsx'
import { fill } from '../../shared/words.ts'
import { changedPassword, ProtectionField, presentProtection } from '../dialogs/protection-field.tsx'
import { useListAttempt } from '../dialogs/use-attempt.ts'
import { useFiles } from '../files-context.ts'
import { useTimes } from '../use-times.ts'
import { LinkLog } from './link-log.tsx'
import { changeLink, fetchContributions } from './links-client.ts'
import { MoreTerms, moreTermsOf } from './more-terms.tsx'
import { MoreButton, useReadPages } from './read-pages.tsx'

interface LinkDetailsProps {
  readonly link: Link
  readonly changed: (link: Link) => void
}

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

/** Days from now. */
const ENDS = [1, 7, 30] as const

function ChangeForm({ link, changed }: LinkDetailsProps) {
  const { texts, words, commands } = useFiles()
  const { share, links, dialogs } = texts
  const times = useTimes()
  const [end, setEnd] = useState<End | null>(null)
  const [protection, setProtection] = useState(presentProtection(link.has_password))
  const { problem, isBusy, attempt } = useListAttempt()
  const isAsking = link.uploads !== null
  const kept = link.ends_at === null ? share.endless : fill(links.keptEnd, { day: times.long(link.ends_at) })

  function submit(event: FormEvent<HTMLFormElement>): void {
    event.preventDefault()
    const { name, message, maxDownloads, limits } = moreTermsOf(event.currentTarget)
    void attempt(
      async () => {
        const now = await changeLink(link, {
          name,
          message,
          password: changedPassword(protection, link.has_password),
          endsAt: end === null ? undefined : momentOf(end, Date.now()),
          maxDownloads: isAsking ? undefined : maxDownloads,
          limits: isAsking ? limits : undefined,
        })
        changed(now)
        setProtection(presentProtection(now.has_password))
        commands.say(fill(texts.announced.saved, { name: link.title }))
      },
      () => setEnd(null),
    )
  }

  return (
    <form className="dialog-form" onSubmit={submit}>
      <EndField
        choices={ENDS}
        choose={setEnd}
        chosen={end}
        kept={kept}
        texts={{ ...share, label: share.ends, days: links.daysFromNow, never: share.endless }}
        words={words}
      />
      <ProtectionField hasPassword={link.has_password} protection={protection} set={setProtection} />
      <MoreTerms isAsking={isAsking} link={link} />
      <ProblemMessage isSmall text={problem} />
      <div className="dialog-actions">
        <Button disabled={isBusy} type="submit">
          {dialogs.save}
        </Button>
      </div>
    </form>
  )
}
