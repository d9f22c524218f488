import { useId, useRef, useState } from 'react'
import { Drawing } from '../../shared/drawings/drawing.tsx'
import { Told } from '../../shared/told.tsx'
import type { UploadEngine } from '../../uploads/engine.ts'
import type { Modules } from '../../uploads/list/qr-code.ts'
import type { View } from '../../uploads/list/view.ts'
import { isActive, isBroken, type UploadItem, type Uploads } from '../../uploads/upload-item.ts'
import { Bar, UploadRows } from '../rows/upload-rows.tsx'
import { CopyAction } from './copy-action.tsx'
import type { CurrentTransfer, TransferState } from './current-transfer.ts'
import { Popover } from './popover.tsx'
import { TermChips } from './term-chips.tsx'
import { isRestricted, type TransferTerms } from './terms.ts'

interface TransferPanelProps {
  readonly transfer: CurrentTransfer
  readonly state: TransferState
  readonly uploads: Uploads
  readonly engine: UploadEngine
  readonly view: View
  /** Then the transfer is the account's. */
  readonly isSignedIn: boolean
}

/** The transfer that the page sends: its link, its terms, and its files. */
export function TransferPanel(props: TransferPanelProps) {
  const { state, uploads, engine, view } = props
  return (
    <section aria-label={view.texts.transfer.title} className="transfer" data-stage={stageOf(uploads)}>
      <PanelHead {...props} />
      {uploads.items.every((item) => isNothing(item, state)) ? null : <LinkCard {...props} />}
      <UploadRows
        engine={engine}
        hasLinks={!isRestricted(state.terms)}
        items={uploads.items}
        kind="transfer"
        receiptOf={none}
        view={view}
      />
    </section>
  )
}

type Stage = 'going' | 'standing' | 'broken' | 'whole'

function stageOf({ items }: Pick<Uploads, 'items'>): Stage {
  if (isWhole(items)) return 'whole'
  if (items.some(isBroken)) return 'broken'
  return items.some(isActive) ? 'going' : 'standing'
}

/** All that was put into it is safe, so what is dropped next is another transfer. */
export function isWhole(items: readonly UploadItem[]): boolean {
  return items.length > 0 && items.every(({ state: { kind } }) => kind === 'done' || kind === 'deleted')
}

/** What was refused before there was a transfer makes none. */
function isNothing({ state: { kind } }: UploadItem, { made }: TransferState): boolean {
  return kind === 'deleted' || (kind === 'failed' && made === null)
}

const none = () => null

function PanelHead({ uploads, engine, view }: TransferPanelProps) {
  const { items, total } = uploads
  const { texts, words } = view
  const { transfer } = texts
  const stage = stageOf(uploads)
  const broken = items.filter(isBroken).length
  const active = items.filter(isActive).length
  const paused = items.filter(({ state }) => state.kind === 'paused').length
  const safe = items.filter(({ state }) => state.kind === 'done').length
  const missing = words.count(broken, transfer.missing)

  function headlineOf(of: Stage): string {
    if (of === 'whole') return safe > 0 ? words.count(safe, transfer.safe) : texts.states.deleted
    return of === 'broken' && active === 0 ? missing : view.headline(uploads)
  }

  function told(): string {
    if (active > 0) return view.total(uploads)
    if (stage === 'broken' && safe > 0) return words.count(safe, transfer.safe)
    return stage === 'whole'
      ? words.size(sizeOf(items))
      : `${words.count(items.length, texts.files)} · ${words.size(sizeOf(items))}`
  }

  return (
    <header className="panel-head">
      <h1>
        {stage === 'whole' && safe > 0 ? <Drawing of="verify" size={28} /> : null}
        {stage === 'broken' ? <Drawing of="alert" size={28} /> : null}
        {headlineOf(stage)}
      </h1>
      <p className="panel-told small quiet">
        {broken > 0 && active > 0 ? (
          <span className="panel-missing">
            <Drawing of="alert" size={16} />
            {missing}
          </span>
        ) : null}
        {told()}
      </p>
      <div className="panel-actions">
        {broken > 0 ? (
          <button
            className="row-button"
            onClick={() => engine.act((list) => list.giveUpBroken())}
            type="button"
          >
            {words.count(broken, transfer.goWithout)}
          </button>
        ) : null}
        {active + paused === 0 ? null : active > 0 ? (
          <button className="row-button" onClick={() => engine.act((list) => list.pauseAll())} type="button">
            {items.length === 1 ? texts.pause : texts.pauseAll}
          </button>
        ) : (
          <button className="row-button" onClick={() => engine.act((list) => list.resumeAll())} type="button">
            {items.length === 1 ? texts.resume : texts.resumeAll}
          </button>
        )}
      </div>
      <div className="panel-bar">
        {total.isActive && items.length > 1 ? (
          <Bar label={texts.total} share={total.size === 0 ? 0 : total.sent / total.size} />
        ) : null}
      </div>
    </header>
  )
}

function sizeOf(items: readonly UploadItem[]): number {
  return items.reduce((sum, { size }) => sum + size, 0)
}

function LinkCard({ transfer: current, state, engine, view, isSignedIn }: TransferPanelProps) {
  const { made, terms, saving, isCopied } = state
  const { texts } = view
  const { transfer } = texts
  const link = made?.link ?? null
  const isGuest = made === null ? !isSignedIn : made.receipt !== null

  return (
    <div className="link-card">
      <div className="link-line">
        {link === null ? (
          <span className="link-address quiet">{transfer.soon}</span>
        ) : (
          <a className="link-address" href={link} target="_blank" rel="noopener">
            <bdi>{link.replace(/^https?:\/\//, '')}</bdi>
          </a>
        )}
        <QrCode link={link} view={view} />
        <ShareButton link={link} view={view} />
        <CopyAction copied={texts.copied} isMain label={texts.copy} text={link} wasCopied={isCopied} />
      </div>
      <p className="link-reach small">
        <Drawing of={isRestricted(terms) ? 'lock' : 'people'} size={16} />
        <span>{reachOf(terms, view)}</span>
      </p>
      <div className="link-tools">
        <TermChips
          change={(changed) => current.change(changed)}
          isGuest={isGuest}
          terms={terms}
          view={view}
        />
        <EndTransfer current={current} engine={engine} isGuest={isGuest} view={view} />
      </div>
      {saving === 'waiting' || saving === 'refused' ? (
        <Told className="small failure">
          {saving === 'waiting' ? transfer.notSavedYet : transfer.notSaved}
        </Told>
      ) : null}
    </div>
  )
}

/** Who can open it, in a sentence. */
export function reachOf(terms: TransferTerms, { texts: { transfer } }: View): string {
  if (!isRestricted(terms)) return transfer.anyone
  const { password, once } = terms
  return [
    password.isSet ? transfer.onlyWithPassword : transfer.anyone,
    ...(once ? [transfer.overAfterOne] : []),
    transfer.filesClosed,
  ].join(' ')
}

/** Where the system has a sheet for it. */
function ShareButton({ link, view: { texts } }: { link: string | null; view: View }) {
  if (navigator.share === undefined) return null
  return (
    <button
      aria-label={texts.share}
      className="icon-button"
      disabled={link === null}
      // Closing the sheet rejects.
      onClick={() => void navigator.share({ url: link ?? '' }).catch(() => {})}
      title={texts.share}
      type="button"
    >
      <Drawing of="share" />
    </button>
  )
}

function QrCode({ link, view: { texts } }: { link: string | null; view: View }) {
  const box = useId()
  const [code, setCode] = useState<Modules | null>(null)
  return (
    <>
      <button
        aria-label={texts.qrCode}
        className="icon-button"
        disabled={link === null}
        popoverTarget={box}
        title={texts.qrCode}
        type="button"
      >
        <Drawing of="qrcode" />
      </button>
      <Popover
        id={box}
        label={texts.qrCode}
        // It may fail to load; opening it again retries.
        opened={() => {
          if (link === null) return
          import('../../uploads/list/qr-code.ts')
            .then(({ modulesOf }) => setCode(modulesOf(link)))
            .catch(() => {})
        }}
      >
        {code === null ? (
          <div className="qr" />
        ) : (
          <svg
            aria-label={texts.qrCodeOf}
            className="qr"
            role="img"
            shapeRendering="crispEdges"
            viewBox={`0 0 ${code.size} ${code.size}`}
          >
            <path d={code.path} />
          </svg>
        )}
      </Popover>
    </>
  )
}

interface EndTransferProps {
  readonly current: CurrentTransfer
  readonly engine: UploadEngine
  readonly isGuest: boolean
  readonly view: View
}

/** Cannot be taken back, so it asks. */
function EndTransfer({ current, engine, isGuest, view: { texts } }: EndTransferProps) {
  const { transfer } = texts
  const box = useId()
  const keep = useRef<HTMLButtonElement>(null)
  const [isFailed, setIsFailed] = useState(false)

  async function end(): Promise<void> {
    setIsFailed(false)
    engine.act((list) => list.pauseAll())
    try {
      await current.end()
    } catch {
      setIsFailed(true)
      return
    }
    engine.act((list) => list.abandon())
  }

  const label = isGuest ? texts.delete : transfer.stopSharing
  return (
    <>
      <button className="text-button" data-deletion popoverTarget={box} type="button">
        <Drawing of="trash" size={16} />
        {label}
      </button>
      <Popover closed={() => setIsFailed(false)} id={box} label={label} opened={() => keep.current?.focus()}>
        <p>{isGuest ? transfer.deleteAsked : transfer.stopSharingAsked}</p>
        {isFailed ? <Told className="small failure">{texts.states.deletionFailed}</Told> : null}
        <div className="popover-actions">
          <button
            className="row-button"
            popoverTarget={box}
            popoverTargetAction="hide"
            ref={keep}
            type="button"
          >
            {transfer.keepIt}
          </button>
          <button className="row-button" data-deletion onClick={() => void end()} type="button">
            {isGuest ? texts.deleteForGood : transfer.stopSharing}
          </button>
        </div>
      </Popover>
    </>
  )
}
