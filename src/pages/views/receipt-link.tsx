import { Button } from '@mantine/core'
import { fill } from '../../../web/shared/words.ts'
import type { LinkEvent } from '../../contract/links.ts'
import type { ReceiptLink, ReceiptTransfer } from '../../contract/receipts.ts'
import { LINK_DAYS } from '../receipt-view.ts'
import type { PageContext } from './context.ts'
import {
  Claim,
  Elsewhere,
  Ending,
  GivenLink,
  headOf,
  ReceiptHead,
  ReceiptLayout,
  type ReceiptProps,
} from './receipt-parts.tsx'
import { Moment } from './times.tsx'

interface LinkProps extends ReceiptProps {
  readonly link: ReceiptLink | ReceiptTransfer
}

export function GuestLinkPage({ link, view, context }: LinkProps) {
  const { receipt } = context.texts
  return (
    <ReceiptLayout context={context} title={headOf(link)} view={view}>
      <main className="receipt">
        <ReceiptHead
          done={view.done === 'changed' ? receipt.changed : null}
          facts={factsOf(link, context)}
          name={headOf(link)}
          what={link.kind === 'transfer' ? receipt.sentTransfer : receipt.madeLink}
        />
        <GivenLink context={context} label={receipt.openLink} url={link.url} />
        <Opened context={context} link={link} />
        <Sent context={context} view={view} />
        <Terms context={context} link={link} view={view} />
        <Log context={context} log={view.log} />
        {link.kind === 'transfer' ? (
          <Claim context={context} view={view} why={receipt.claimTransferWhy} />
        ) : null}
        <Elsewhere context={context} view={view} />
        {link.kind === 'transfer' ? (
          <Ending
            action={view.action}
            begin={receipt.delete}
            confirm={receipt.deleteForGood}
            why={receipt.deleteTransferWhy}
          />
        ) : (
          <Ending
            action={view.action}
            begin={receipt.takeBack}
            confirm={receipt.takeBackForGood}
            why={receipt.takeBackWhy}
          />
        )}
      </main>
    </ReceiptLayout>
  )
}

function factsOf(link: LinkProps['link'], { texts, words }: PageContext): string {
  const { links } = texts.files.app
  const { downloads, max_downloads: most, ends_at: end, has_password: isLocked } = link
  const taken =
    most === null
      ? words.count(downloads, links.downloads)
      : fill(words.count(most, links.downloadsOf), { taken: words.number(downloads) })
  const states = {
    live: end === null ? links.endless : fill(links.until, { day: words.moment(end) }),
    ended: end === null ? links.usedUp : fill(links.ended, { day: words.moment(end) }),
    used_up: links.usedUp,
    empty: links.empty,
    revoked: links.revoked,
  }
  return [taken, states[link.state], ...(isLocked ? [links.locked] : [])].join(' · ')
}

function Opened({
  link: { targets },
  context: { words },
}: {
  link: LinkProps['link']
  context: PageContext
}) {
  if (targets.files.length === 0) return null
  return (
    <ul className="receipt-list">
      {targets.files.map(({ id, name, size }) => (
        <li key={id}>
          <bdi>{name}</bdi> <span className="quiet small">{words.size(size)}</span>
        </li>
      ))}
    </ul>
  )
}

function Sent({ view: { sent }, context: { texts, words } }: ReceiptProps) {
  if (sent === null || sent.files.length === 0) return null
  const more = sent.total - sent.files.length
  return (
    <>
      <ul className="receipt-files">
        {sent.files.map(({ name, size, thumbnail_url }) => (
          <li key={thumbnail_url}>
            <img alt="" height="96" loading="lazy" src={thumbnail_url} width="96" />
            <bdi title={name}>{name}</bdi>
            <span className="quiet small">{words.size(size)}</span>
          </li>
        ))}
      </ul>
      {more > 0 ? <p className="quiet small">{words.count(more, texts.receipt.moreFiles)}</p> : null}
    </>
  )
}

function Terms({ link, view, context: { texts, words } }: LinkProps) {
  const { share, links, dialogs } = texts.files.app
  const { receipt } = texts
  const { ends_at: end } = link
  const kept = end === null ? share.endless : fill(links.keptEnd, { day: words.moment(end) })
  const ends = [
    { value: 'kept', label: kept },
    ...LINK_DAYS.map((days) => ({ value: String(days), label: words.count(days, links.daysFromNow) })),
    ...(end === null ? [] : [{ value: 'never', label: share.endless }]),
  ]
  return (
    <form action={view.action} className="receipt-row receipt-terms" method="post">
      <h2>{receipt.terms}</h2>
      <div className="field">
        <label htmlFor="ends">{share.ends}</label>
        <select defaultValue="kept" id="ends" name="ends">
          {ends.map(({ value, label }) => (
            <option key={value} value={value}>
              {label}
            </option>
          ))}
        </select>
      </div>
      <div className="field">
        <label htmlFor="downloads">{receipt.downloads}</label>
        <input
          aria-describedby="downloads-why"
          autoComplete="off"
          defaultValue={link.max_downloads ?? ''}
          id="downloads"
          min={1}
          name="downloads"
          type="number"
        />
        <p className="small quiet" id="downloads-why">
          {receipt.downloadsWhy}
        </p>
      </div>
      <div className="field">
        <label htmlFor="password">{receipt.password}</label>
        <input
          aria-describedby="password-why"
          autoComplete="off"
          id="password"
          maxLength={128}
          name="password"
          type="text"
        />
        <p className="small quiet" id="password-why">
          {link.has_password ? receipt.passwordKept : receipt.passwordWhy}
        </p>
      </div>
      {link.has_password ? (
        <label className="check">
          <input name="open" type="checkbox" />
          <span>{receipt.passwordOff}</span>
        </label>
      ) : null}
      <div className="field">
        <label htmlFor="name">{share.name}</label>
        <input
          autoComplete="off"
          defaultValue={link.name ?? ''}
          dir="auto"
          id="name"
          maxLength={100}
          name="name"
          type="text"
        />
      </div>
      <div className="field">
        <label htmlFor="message">{share.message}</label>
        <textarea
          defaultValue={link.message ?? ''}
          dir="auto"
          id="message"
          maxLength={2000}
          name="message"
          rows={3}
        />
      </div>
      <Button name="action" type="submit" value="change" variant="default">
        {dialogs.save}
      </Button>
    </form>
  )
}

function Log({ log, context }: { log: readonly LinkEvent[]; context: PageContext }) {
  const { links } = context.texts.files.app
  if (log.length === 0) return null
  return (
    <section className="receipt-row">
      <h2>{links.happened}</h2>
      <ul className="receipt-list">
        {log.map((event, at) => (
          <EventRow context={context} event={event} key={at} />
        ))}
      </ul>
    </section>
  )
}

function EventRow({ event, context }: { event: LinkEvent; context: PageContext }) {
  const { texts, words } = context
  const { links } = texts.files.app
  const { kind, at, file, bytes, times, reason } = event
  const why = reason === 'downloads' ? links.usedUp : null
  const what = times > 1 ? words.count(times, links.manyDownloads) : links.events[kind]
  const facts = [why, bytes === null ? null : words.size(bytes)].filter((fact) => fact !== null)
  return (
    <li>
      {what} {file === null ? null : <bdi>{file.name}</bdi>}
      <p className="quiet small">
        {facts.map((fact) => `${fact} · `)}
        <Moment context={context} iso={at} />
      </p>
    </li>
  )
}
