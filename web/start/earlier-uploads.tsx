import { Button } from '@mantine/core'
import { useId, useMemo, useState, useSyncExternalStore } from 'react'
import { Drawing } from '../shared/drawings/drawing.tsx'
import { escapeTo } from '../shared/escape-to.ts'
import { FileName } from '../shared/file-name.tsx'
import { Told } from '../shared/told.tsx'
import { fill } from '../shared/words.ts'
import type { View } from '../uploads/list/view.ts'
import type { KeptReceipt, ReceiptStore } from '../uploads/receipts.ts'
import { deleteWithReceipt } from '../uploads/server.ts'
import { ClaimOffer } from './claim-offer.tsx'

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
            <EarlierUpload forget={() => forget(receipt)} key={receipt.link} receipt={receipt} view={view} />
          ))}
        </ul>
        {shown.length === earlier.length ? null : (
          <Button onClick={() => setIsAll(true)} variant="default">
            {words.count(earlier.length, texts.showAll)}
          </Button>
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
      <Button leftSection={<Drawing of="cross" />} onClick={() => setIsAsked(true)} variant="subtle">
        {begin}
      </Button>
    )
  return (
    <div className="earlier-forget">
      <p id={question}>{forgetAsked}</p>
      <div className="actions">
        <Button
          aria-describedby={question}
          autoFocus
          onClick={() => setIsAsked(false)}
          onKeyDown={escapeTo(() => setIsAsked(false))}
          variant="default"
        >
          {remember}
        </Button>
        <Button color="red" onClick={forget} variant="light">
          {forgetConfirm}
        </Button>
      </div>
    </div>
  )
}

interface EarlierUploadProps {
  readonly receipt: KeptReceipt
  readonly forget: () => void
  readonly view: View
}

function EarlierUpload({ receipt: { name, size, link, receipt, at }, forget, view }: EarlierUploadProps) {
  const { texts, words } = view
  const [step, setStep] = useState<'none' | 'asked' | 'under way' | 'failed'>('none')
  // A link to several uploads is taken back; its files stay.
  const isLink = view.showsLinks && new URL(link).pathname.startsWith('/l/')
  const said = isLink ? ofLink(texts) : ofFile(texts)
  const isAsked = step === 'asked' || step === 'failed'
  const question = useId()
  const facts = { size: words.size(size), day: words.day(new Date(at).toISOString()) }

  function carryOut(): void {
    setStep('under way')
    deleteWithReceipt(receipt).then(forget, () => setStep('failed'))
  }

  return (
    <li onKeyDown={isAsked ? escapeTo(() => setStep('none')) : undefined}>
      {view.showsLinks ? (
        <a className="earlier-name" href={new URL(link).pathname}>
          <FileName name={name} />
        </a>
      ) : (
        <span className="earlier-name">
          <FileName name={name} />
        </span>
      )}
      {step === 'failed' ? (
        <Told className="small failure">{texts.states.deletionFailed}</Told>
      ) : (
        <p className="small quiet" id={question}>
          {step === 'asked' ? said.asked : fill(said.facts, facts)}
        </p>
      )}
      <div className="earlier-actions">
        {isAsked ? (
          <>
            {/* The focus goes from the one to the other, so that a second press deletes nothing. */}
            <Button
              aria-describedby={question}
              aria-label={`${said.keep}: ${name}`}
              key="ending"
              onClick={() => setStep('none')}
              variant="default"
            >
              {said.keep}
            </Button>
            <Button
              aria-label={`${said.confirm}: ${name}`}
              key="deleting"
              color="red"
              onClick={carryOut}
              variant="light"
            >
              {said.confirm}
            </Button>
          </>
        ) : (
          <>
            <Button
              aria-label={`${texts.earlier.manage}: ${name}`}
              component="a"
              key="managing"
              href={`/r/${encodeURIComponent(receipt)}`}
              leftSection={<Drawing of={view.showsLinks ? 'pencil' : 'file'} />}
              variant="subtle"
            >
              {texts.earlier.manage}
            </Button>
            <Button
              aria-label={`${said.begin}: ${name}`}
              key="ending"
              disabled={step === 'under way'}
              leftSection={<Drawing of="trash" />}
              onClick={() => setStep('asked')}
              variant="subtle"
            >
              {said.begin}
            </Button>
          </>
        )}
      </div>
    </li>
  )
}

function ofFile({ delete: begin, deleteForGood: confirm, keep, states, earlier }: View['texts']) {
  return { begin, confirm, keep, asked: states.deletionAsked, facts: earlier.facts }
}

function ofLink({ oneLink: { takeBack, takenBackAsked: asked, keepLink: keep, facts } }: View['texts']) {
  return { begin: takeBack, confirm: takeBack, keep, asked, facts }
}
