import { Button } from '@mantine/core'
import type { ReactNode } from 'react'
import type { ReceiptPageData } from '../../../web/receipt/data.ts'
import { Drawing } from '../../../web/shared/drawings/drawing.tsx'
import { Filled } from '../../../web/shared/filled.tsx'
import { fill } from '../../../web/shared/words.ts'
import type { ReceiptLink, ReceiptTransfer } from '../../contract/receipts.ts'
import type { ReceiptPageView } from '../receipt-view.ts'
import type { PageContext } from './context.ts'
import { CopyLinkButton } from './copy-button.tsx'
import { Layout, NoIndex } from './layout.tsx'
import { QrCode } from './qr-code.tsx'
import { Day } from './times.tsx'

export interface ReceiptProps {
  readonly view: ReceiptPageView
  readonly context: PageContext
}

export function ReceiptLayout({
  view,
  context,
  title,
  children,
}: ReceiptProps & { readonly title: string; readonly children: ReactNode }) {
  return (
    <Layout
      context={context}
      head={<NoIndex />}
      scripted={{ page: 'receipt', data: dataOf(view, context) }}
      title={title}
    >
      {children}
    </Layout>
  )
}

interface HeadProps {
  readonly what: string
  readonly name: string
  readonly facts: ReactNode
  readonly done: ReactNode
}

export function ReceiptHead({ what, name, facts, done }: HeadProps) {
  return (
    <div>
      <p className="quiet small">{what}</p>
      <h1>
        <bdi>{name}</bdi>
      </h1>
      <p className="quiet">{facts}</p>
      <p className="receipt-done" role="status">
        {done}
      </p>
    </div>
  )
}

export function GivenLink({ url, label, context }: { url: string; label: string; context: PageContext }) {
  return (
    <div className="link">
      <p className="link-text">{url}</p>
      <CopyLinkButton context={context} url={url} />
      <a className="button button-quiet" href={new URL(url).pathname}>
        <Drawing of="open" />
        {label}
      </a>
    </div>
  )
}

export function headOf({ name, title, targets }: ReceiptLink | ReceiptTransfer): string {
  const more = targets.files.length - 1
  return name === null && more > 0 ? `${title} + ${more}` : title
}

/** `Filled` with days, which programs read too. */
export function WithDay({ text, iso, context }: { text: string; iso: string; context: PageContext }) {
  return <Filled text={text} values={{ day: <Day context={context} iso={iso} /> }} />
}

export function arrivedSoFar(
  { status, received, size }: { status: string; received: number; size: number | null },
  { texts, words }: PageContext,
): string | null {
  if (status === 'completed') return null
  const text = size === null ? texts.receipt.arrivingUnsized : texts.receipt.arriving
  return fill(text, { received: words.size(received), size: size === null ? '' : words.size(size) })
}

export function Elsewhere({ view, context: { texts } }: ReceiptProps) {
  const { receipt } = texts
  const whys = {
    upload: receipt.elsewhereWhy,
    contribution: receipt.elsewhereSent,
    link: receipt.elsewhereLink,
    transfer: receipt.elsewhereTransfer,
  }
  return (
    <details className="receipt-part">
      <summary>
        <Drawing of="qrcode" />
        {receipt.elsewhere}
      </summary>
      <p className="quiet">{whys[view.of.kind]}</p>
      <QrCode label={receipt.code} text={view.url} />
      <div id="remember" hidden>
        <button className="button button-quiet" type="button">
          {receipt.remember}
        </button>
        <p className="quiet" role="status" />
      </div>
    </details>
  )
}

interface EndingProps {
  readonly action: string
  readonly begin: string
  readonly why: string
  readonly confirm: string
}

export function Ending({ action, begin, why, confirm }: EndingProps) {
  return (
    <details className="receipt-part">
      <summary>
        <Drawing of="trash" />
        {begin}
      </summary>
      <p className="quiet">{why}</p>
      <form action={action} method="post">
        <Button color="red" name="action" type="submit" value="delete">
          {confirm}
        </Button>
      </form>
    </details>
  )
}

function dataOf({ of, over, receipt }: ReceiptPageView, { texts }: PageContext): ReceiptPageData {
  const { remembered, rememberFailed } = texts.receipt
  const shared = { receipt, isOver: over !== null, texts: { remembered, rememberFailed } }
  switch (of.kind) {
    case 'upload': {
      const { name, size, received, url: link, created_at: at } = of
      return { ...shared, kept: { name, size: size ?? received, link, at }, asking: null }
    }
    case 'link':
    case 'transfer': {
      const { url: link, created_at: at, targets } = of
      const size = targets.files.reduce((sum, file) => sum + file.size, 0)
      return { ...shared, kept: { name: headOf(of), size, link, at }, asking: null }
    }
    case 'contribution':
      return { ...shared, kept: null, asking: of.link?.url.split('/').at(-1) ?? null }
  }
}

/** `why`: with {account}. */
export function Claim({ why, view, context: { texts } }: ReceiptProps & { readonly why: string }) {
  if (view.account === null) {
    // No redirect back to this page: the sign-in provider must not learn its address.
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
      <p>{fill(why, { account: view.account })}</p>
      <Button name="action" type="submit" value="claim" variant="default">
        {texts.receipt.claim}
      </Button>
    </form>
  )
}
