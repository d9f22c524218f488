import { useId, useMemo, useState, useSyncExternalStore } from 'react'
import { Drawing } from '../shared/drawings/drawing.tsx'
import { escapeTo } from '../shared/escape-to.ts'
import { FileName } from '../shared/file-name.tsx'
import { focusIt } from '../shared/focus-it.ts'
import { fill } from '../shared/words.ts'
import type { View } from '../uploads/list/view.ts'
import type { KeptReceipt, ReceiptStore } from '../uploads/receipts.ts'
import { ClaimOffer } from './claim-offer.tsx'
import { CopyAction } from './transfer/copy-action.tsx'

interface EarlierUploadsProps {
  readonly receipts: ReceiptStore
  /** Those that the page lists anyway. */
  readonly listed: readonly string[]
  readonly view: View
  /** Whether they may be moved into an account. */
  readonly isSignedIn: boolean
}

/** How many are shown, and asked for whether they are still there. */
const MOST = 50

const neverChanges = () => () => {}

/** What this browser has uploaded before, for whoever wants a link again or the file gone. */
export function EarlierUploads({ receipts, listed, view, isSignedIn }: EarlierUploadsProps) {
  const { texts, words } = view
  // The server's page has none, and the first rendering here must be the same.
  const isInBrowser = useSyncExternalStore(
    neverChanges,
    () => true,
    () => false,
  )
  const [forgotten, setForgotten] = useState(0)
  const links = listed.join('\n')
  // Read while rendering, or a file that was deleted in the list would show up here for a moment. What is listed changes
  // with what is uploaded and deleted there.
  const all = useMemo(() => (isInBrowser ? receipts.list() : []), [isInBrowser, receipts, links, forgotten])
  const earlier = all.filter(({ link }) => !listed.includes(link))
  const [isAll, setIsAll] = useState(false)
  const shown = isAll ? earlier : earlier.slice(0, MOST)

  function forget(...gone: readonly KeptReceipt[]): void {
    receipts.remove(...gone.map(({ link }) => link))
    setForgotten((count) => count + 1)
  }

  async function look(): Promise<void> {
    if (!view.showsLinks) return
    for (const receipt of earlier.slice(0, MOST)) {
      const { pathname } = new URL(receipt.link)
      // A look at the head alone is no view, and does not keep the file.
      const answer = await fetch(pathname, { method: 'HEAD' }).catch(() => null)
      if (answer?.status === 404) forget(receipt)
    }
  }

  const offer =
    isInBrowser && isSignedIn ? (
      <ClaimOffer changed={() => setForgotten((count) => count + 1)} receipts={receipts} view={view} />
    ) : null
  if (shown.length === 0) return offer
  return (
    <>
      {offer}
      <details
        className="earlier"
        onToggle={({ currentTarget }) => {
          if (currentTarget.open) void look()
        }}
      >
        <summary>{words.count(earlier.length, texts.earlier.title)}</summary>
        <p className="quiet small">{texts.earlier.why}</p>
        <ForgetAll forget={() => forget(...earlier)} view={view} />
        <ul>
          {shown.map((receipt) => (
            <EarlierUpload key={receipt.link} receipt={receipt} view={view} />
          ))}
        </ul>
        {shown.length === earlier.length ? null : (
          <button className="row-button" onClick={() => setIsAll(true)} type="button">
            {words.count(earlier.length, texts.showAll)}
          </button>
        )}
      </details>
    </>
  )
}

/** Asks once, because the receipts that can delete the files are gone with the list. */
function ForgetAll({ forget, view: { texts } }: Pick<EarlierUploadsProps, 'view'> & { forget: () => void }) {
  const { forget: begin, forgetAsked, forgetConfirm, remember } = texts.earlier
  const [isAsked, setIsAsked] = useState(false)
  const question = useId()
  if (!isAsked)
    return (
      <button className="text-button" onClick={() => setIsAsked(true)} type="button">
        <Drawing of="cross" size={16} />
        {begin}
      </button>
    )
  return (
    <div className="earlier-forget">
      <p id={question}>{forgetAsked}</p>
      <div className="actions">
        <button
          aria-describedby={question}
          className="row-button"
          onClick={() => setIsAsked(false)}
          onKeyDown={escapeTo(() => setIsAsked(false))}
          ref={focusIt}
          type="button"
        >
          {remember}
        </button>
        <button className="row-button" data-deletion onClick={forget} type="button">
          {forgetConfirm}
        </button>
      </div>
    </div>
  )
}

interface EarlierUploadProps {
  readonly receipt: KeptReceipt
  readonly view: View
}

function EarlierUpload({ receipt: { name, size, files = 1, link, receipt, at }, view }: EarlierUploadProps) {
  const { texts, words } = view
  const facts = fill(texts.earlier.facts, {
    size: words.size(size),
    day: words.day(new Date(at).toISOString()),
  })

  return (
    <li>
      {view.showsLinks ? (
        <a className="earlier-name" href={new URL(link).pathname}>
          <FileName name={name} />
        </a>
      ) : (
        <span className="earlier-name">
          <FileName name={name} />
        </span>
      )}
      <p className="small quiet">{files > 1 ? `${words.count(files, texts.files)} · ${facts}` : facts}</p>
      <div className="earlier-actions">
        {view.showsLinks ? (
          <CopyAction copied={texts.copied} label={`${texts.copy}: ${name}`} text={link} />
        ) : null}
        <a
          aria-label={`${texts.earlier.manage}: ${name}`}
          className="row-button"
          href={`/r/${encodeURIComponent(receipt)}`}
        >
          {texts.earlier.manage}
        </a>
      </div>
    </li>
  )
}
