import { Button, TextInput } from '@mantine/core'
import type { ReceiptPageData } from '../../../web/receipt/data.ts'
import { Drawing } from '../../../web/shared/drawings/drawing.tsx'
import { Filled } from '../../../web/shared/filled.tsx'
import { fill } from '../../../web/shared/words.ts'
import type { ReceiptUpload } from '../../contract/uploads.ts'
import type { ReceiptPageView } from '../receipt-view.ts'
import type { PageContext } from './context.ts'
import { CopyLinkButton } from './copy-button.tsx'
import { Layout, NoIndex } from './layout.tsx'
import { QrCode } from './qr-code.tsx'

interface Props {
  readonly view: ReceiptPageView
  readonly context: PageContext
}

/** What a guest has uploaded, and what its receipt allows: forms, so that it works without scripts. */
export function ReceiptPage({ view, context }: Props) {
  const { texts } = context
  const { upload } = view
  if (upload === null) return <OverPage view={view} context={context} />
  const isWhole = upload.status === 'completed'
  return (
    <Layout
      context={context}
      head={<NoIndex />}
      scripted={{ page: 'receipt', data: dataOf(view, context) }}
      title={upload.name}
    >
      <main className="receipt">
        <div>
          <p className="quiet small">{texts.receipt.yours}</p>
          <h1>
            <bdi>{upload.name}</bdi>
          </h1>
          <Facts context={context} upload={upload} />
          <p className="receipt-done" role="status">
            {view.done === 'renamed' ? texts.receipt.renamed : null}
            {view.done === 'kept' ? (
              <Filled
                text={texts.receipt.kept}
                values={{ day: <Day context={context} of={upload.expires_at} /> }}
              />
            ) : null}
          </p>
        </div>
        <div className="link">
          <p className="link-text">{upload.url}</p>
          <CopyLinkButton context={context} url={upload.url} />
          <a className="button button-quiet" href={new URL(upload.url).pathname}>
            <Drawing of="open" />
            {texts.receipt.open}
          </a>
        </div>
        {isWhole ? <Changes context={context} upload={upload} view={view} /> : null}
        {isWhole ? <Claim context={context} view={view} /> : null}
        <Elsewhere context={context} view={view} />
        <details className="receipt-part">
          <summary>
            <Drawing of="trash" />
            {texts.receipt.delete}
          </summary>
          <p className="quiet">{texts.receipt.deleteWhy}</p>
          <form action={view.action} method="post">
            <Button color="red" name="action" type="submit" value="delete">
              {texts.receipt.deleteForGood}
            </Button>
          </form>
        </details>
      </main>
    </Layout>
  )
}

interface UploadProps {
  readonly upload: ReceiptUpload
  readonly context: PageContext
}

function Facts({ upload, context: { texts, words } }: UploadProps) {
  const size = upload.size === null ? '' : words.size(upload.size)
  if (upload.status !== 'completed') {
    const text = upload.size === null ? texts.receipt.arrivingUnsized : texts.receipt.arriving
    return <p className="quiet">{fill(text, { received: words.size(upload.received), size })}</p>
  }
  const downloads = upload.downloads === 0 ? '' : ` · ${words.count(upload.downloads, texts.file.downloads)}`
  return (
    <p className="quiet">
      {fill(texts.receipt.uploaded, { size, day: words.day(upload.created_at) })}
      {downloads}
    </p>
  )
}

function Day({ of, context }: { of: string; context: PageContext }) {
  return <time dateTime={of}>{context.words.day(of)}</time>
}

function Changes({ upload, view, context }: UploadProps & Props) {
  const { texts, words } = context
  return (
    <>
      <form action={view.action} className="receipt-row" method="post">
        <p>
          <Filled
            text={texts.file.keptUntil}
            values={{ day: <Day context={context} of={upload.expires_at} /> }}
          />
        </p>
        <Button name="action" type="submit" value="keep" variant="default">
          {fill(texts.receipt.keep, { day: words.day(view.keptUntil) })}
        </Button>
      </form>
      <form action={view.action} className="receipt-row" method="post">
        <TextInput
          autoComplete="off"
          defaultValue={upload.name}
          id="name"
          label={texts.receipt.name}
          maxLength={255}
          name="name"
          required
          withAsterisk={false}
        />
        <Button name="action" type="submit" value="rename" variant="default">
          {texts.receipt.rename}
        </Button>
      </form>
    </>
  )
}

/** Into the account of whoever is signed in; whoever is not is told that it is possible. */
function Claim({ view, context: { texts } }: Props) {
  if (view.account === null) {
    // Not back to this page: its address is for nobody else, such as who signs people in.
    return (
      <p className="quiet small">
        <a href="/sign-in?next=%2F" rel="nofollow">
          {texts.receipt.signInToClaim}
        </a>
      </p>
    )
  }
  return (
    <form action={view.action} className="receipt-row" method="post">
      <p>{fill(texts.receipt.claimWhy, { account: view.account })}</p>
      <Button name="action" type="submit" value="claim" variant="default">
        {texts.receipt.claim}
      </Button>
    </form>
  )
}

/** The receipt for another browser of the same person, and for this one. */
function Elsewhere({ view, context: { texts } }: Props) {
  return (
    <details className="receipt-part">
      <summary>
        <Drawing of="qrcode" />
        {texts.receipt.elsewhere}
      </summary>
      <p className="quiet">{texts.receipt.elsewhereWhy}</p>
      <QrCode label={texts.receipt.code} text={view.url} />
      <div id="remember" hidden>
        <button className="button button-quiet" type="button">
          {texts.receipt.remember}
        </button>
        <p className="quiet" role="status" />
      </div>
    </details>
  )
}

function OverPage({ view, context }: Props) {
  const { receipt } = context.texts
  const claimed = view.over?.kind === 'claimed' ? view.over : null
  const title = claimed === null ? receipt.deleted : receipt.claimed
  return (
    <Layout
      context={context}
      head={<NoIndex />}
      scripted={{ page: 'receipt', data: dataOf(view, context) }}
      title={title}
    >
      <main className="message">
        <h1>{title}</h1>
        <p className="quiet">{claimed === null ? receipt.deletedWhy : receipt.claimedWhy}</p>
        {claimed === null ? (
          <a className="button button-quiet" href="/">
            {receipt.toStart}
          </a>
        ) : (
          <>
            <a className="button" href="/files">
              {receipt.toFiles}
            </a>
            <a className="button button-quiet" href={new URL(claimed.url).pathname}>
              {receipt.open}
            </a>
          </>
        )}
      </main>
    </Layout>
  )
}

function dataOf({ upload, receipt }: ReceiptPageView, { texts }: PageContext): ReceiptPageData {
  const { remembered, rememberFailed } = texts.receipt
  return {
    receipt,
    upload:
      upload === null
        ? null
        : {
            name: upload.name,
            size: upload.size ?? upload.received,
            link: upload.url,
            at: upload.created_at,
          },
    texts: { remembered, rememberFailed },
  }
}
