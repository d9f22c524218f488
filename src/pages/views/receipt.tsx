import { Button } from '@mantine/core'
import { fill } from '../../../web/shared/words.ts'
import type { ReceiptContribution, ReceiptUpload } from '../../contract/receipts.ts'
import { ASKED_FIELDS } from '../../domain/upload-terms.ts'
import type { PageContext } from './context.ts'
import { GuestLinkPage } from './receipt-link.tsx'
import {
  arrivedSoFar,
  Claim,
  Elsewhere,
  Ending,
  GivenLink,
  ReceiptHead,
  ReceiptLayout,
  type ReceiptProps,
  WithDay,
} from './receipt-parts.tsx'

/** Forms, so that it works without scripts. */
export function ReceiptPage({ view, context }: ReceiptProps) {
  const { of } = view
  if (view.over !== null) return <OverPage context={context} view={view} />
  switch (of.kind) {
    case 'upload':
      return <UploadPage context={context} upload={of} view={view} />
    case 'contribution':
      return <SentPage context={context} sent={of} view={view} />
    case 'link':
    case 'transfer':
      return <GuestLinkPage context={context} link={of} view={view} />
  }
}

interface UploadProps extends ReceiptProps {
  readonly upload: ReceiptUpload
}

function UploadPage({ upload, view, context }: UploadProps) {
  const { receipt } = context.texts
  const isWhole = upload.status === 'completed'
  const done = {
    renamed: receipt.renamed,
    kept:
      upload.expires_at === null ? (
        receipt.keptForGood
      ) : (
        <WithDay context={context} iso={upload.expires_at} text={receipt.kept} />
      ),
    changed: null,
    received: null,
  }
  return (
    <ReceiptLayout context={context} title={upload.name} view={view}>
      <main className="receipt">
        <ReceiptHead
          done={view.done === null ? null : done[view.done]}
          facts={arrivedSoFar(upload, context) ?? factsOf(upload, context)}
          name={upload.name}
          what={receipt.yours}
        />
        <GivenLink context={context} label={receipt.open} url={upload.url} />
        {isWhole ? <Changes context={context} upload={upload} view={view} /> : null}
        {isWhole ? <Claim context={context} view={view} why={receipt.claimWhy} /> : null}
        <Elsewhere context={context} view={view} />
        <Ending
          action={view.action}
          begin={receipt.delete}
          confirm={receipt.deleteForGood}
          why={receipt.deleteWhy}
        />
      </main>
    </ReceiptLayout>
  )
}

function factsOf({ received, downloads, created_at }: ReceiptUpload, { texts, words }: PageContext): string {
  const facts = fill(texts.receipt.uploaded, { size: words.size(received), day: words.day(created_at) })
  return downloads === 0 ? facts : `${facts} · ${words.count(downloads, texts.file.downloads)}`
}

function Changes({ upload, view, context }: UploadProps) {
  const { texts, words } = context
  const { keptUntil } = view
  return (
    <>
      <form action={view.action} className="receipt-row" method="post">
        <p>
          {upload.expires_at === null ? (
            texts.receipt.keptForGood
          ) : (
            <WithDay context={context} iso={upload.expires_at} text={texts.file.keptUntil} />
          )}
        </p>
        {keptUntil === null ||
        upload.expires_at === null ||
        words.day(keptUntil) === words.day(upload.expires_at) ? null : (
          <Button name="action" type="submit" value="keep" variant="default">
            <WithDay context={context} iso={keptUntil} text={texts.receipt.keep} />
          </Button>
        )}
      </form>
      <form action={view.action} className="receipt-row" method="post">
        <div className="field">
          <label htmlFor="name">{texts.receipt.name}</label>
          <input
            autoComplete="off"
            defaultValue={upload.name}
            dir="auto"
            id="name"
            maxLength={255}
            name="name"
            required
            type="text"
          />
        </div>
        <Button name="action" type="submit" value="rename" variant="default">
          {texts.receipt.rename}
        </Button>
      </form>
    </>
  )
}

function OverPage({ view, context }: ReceiptProps) {
  const { receipt } = context.texts
  const { of } = view
  if ((of.kind === 'upload' || of.kind === 'transfer') && view.over === 'claimed') {
    const claimed = of.kind === 'transfer' ? receipt.claimedTransfer : receipt.claimed
    return (
      <ReceiptLayout context={context} title={claimed} view={view}>
        <main className="message ground">
          <h1>{claimed}</h1>
          <p className="quiet">{receipt.claimedWhy}</p>
          <a className="button" href="/files">
            {receipt.toFiles}
          </a>
          <a className="button button-quiet" href={new URL(of.url).pathname}>
            {receipt.open}
          </a>
        </main>
      </ReceiptLayout>
    )
  }
  const [title, why] = {
    upload: [receipt.deleted, receipt.deletedWhy] as const,
    contribution: [receipt.withdrawn, receipt.withdrawnWhy] as const,
    link: [receipt.takenBack, receipt.takenBackWhy] as const,
    transfer: [receipt.deletedTransfer, receipt.deletedWhy] as const,
  }[of.kind]
  return (
    <ReceiptLayout context={context} title={title} view={view}>
      <main className="message ground">
        <h1>{title}</h1>
        <p className="quiet">{why}</p>
        <a className="button button-quiet" href="/">
          {receipt.toStart}
        </a>
      </main>
    </ReceiptLayout>
  )
}

interface SentProps extends ReceiptProps {
  readonly sent: ReceiptContribution
}

function SentPage({ sent, view, context }: SentProps) {
  const { texts, words } = context
  const { receipt } = texts
  const { name, owner, link, created_at } = sent
  const size = words.size(sent.size ?? sent.received)
  const facts = arrivedSoFar(sent, context) ?? fill(receipt.sent, { size, moment: words.moment(created_at) })
  return (
    <ReceiptLayout context={context} title={name} view={view}>
      <main className="receipt">
        <ReceiptHead
          done={view.done === 'received' ? texts.uploadLink.received : null}
          facts={facts}
          name={name}
          what={fill(receipt.sentTo, { owner })}
        />
        <Said context={context} sent={sent} />
        {link === null ? null : (
          <p>
            <a className="button button-quiet" href={new URL(link.url).pathname}>
              {receipt.sendAnother}
            </a>
          </p>
        )}
        {sent.sha256 === null ? null : (
          <details className="receipt-part">
            <summary>{texts.files.app.details.technical}</summary>
            <dl className="receipt-facts">
              <dt className="quiet small">SHA-256</dt>
              <dd>{sent.sha256}</dd>
            </dl>
          </details>
        )}
        <Elsewhere context={context} view={view} />
        {sent.can_withdraw ? (
          <Ending
            action={view.action}
            begin={receipt.withdraw}
            confirm={receipt.withdrawForGood}
            why={fill(receipt.withdrawWhy, { owner })}
          />
        ) : (
          <p className="quiet small">{fill(receipt.stays, { owner })}</p>
        )}
      </main>
    </ReceiptLayout>
  )
}

function Said({ sent, context }: { sent: ReceiptContribution; context: PageContext }) {
  const { receipt, uploadLink } = context.texts
  const { link } = sent
  const said = ASKED_FIELDS.flatMap((field) => {
    const answer = sent[field]
    return answer === null || answer === '' ? [] : [[uploadLink.labels[field], answer] as const]
  })
  const rows = [...(link?.name == null ? [] : [[receipt.sentFor, link.name] as const]), ...said]
  if (rows.length === 0) return null
  return (
    <dl className="receipt-facts">
      {rows.map(([label, value]) => (
        <div key={label}>
          <dt className="quiet small">{label}</dt>
          <dd>
            <bdi>{value}</bdi>
          </dd>
        </div>
      ))}
    </dl>
  )
}
