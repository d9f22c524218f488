import { useCallback, useEffect, useMemo, useState, useSyncExternalStore } from 'react'
import { zoneHere } from '../../src/domain/days.ts'
import { keepFocus } from '../shared/kept-focus.ts'
import { titleOf } from '../shared/site-name.ts'
import { createWords } from '../shared/words.ts'
import { NOTHING, type UploadEngine } from '../uploads/engine.ts'
import { Announcements } from '../uploads/list/announcements.tsx'
import { View } from '../uploads/list/view.ts'
import type { Picked } from '../uploads/picked.ts'
import { openReceiptStore, type ReceiptStore } from '../uploads/receipts.ts'
import { useLeaveWarning } from '../uploads/use-leave-warning.ts'
import type { Answers } from './answers.ts'
import { AskedFields, useHeld } from './asked-fields.tsx'
import type { AskingLink, StartPageData } from './data.ts'
import { DropZone } from './drop-zone.tsx'
import { EarlierUploads } from './earlier-uploads.tsx'
import { LinkUploads } from './link-uploads.tsx'
import { pastedFiles } from './pasted.ts'
import { CurrentTransfer, NO_TRANSFER } from './transfer/current-transfer.ts'
import { TermChips } from './transfer/term-chips.tsx'
import { isWhole, TransferPanel } from './transfer/transfer-panel.tsx'
import { TypedText } from './typed-text.tsx'
import { useDrop } from './use-drop.ts'
import { useRoom } from './use-room.ts'
import { useTakingHold } from './use-taking-hold.ts'

interface StartAppProps {
  readonly data: StartPageData
  readonly engine: UploadEngine
  readonly receipts: ReceiptStore
  readonly answers: Answers
  readonly transfer: CurrentTransfer
  /** Chosen before the script was there. */
  readonly early?: readonly Picked[]
}

/** The start page, and that of an upload link: a place to drop files, which becomes the list of uploads. */
export function StartApp(props: StartAppProps) {
  const { data, engine } = props
  const uploads = useSyncExternalStore(engine.subscribe, engine.snapshot, () => NOTHING)
  const view = useMemo(() => new View(data, createWords(data.locale, zoneHere()), data.link === null), [data])
  useEffect(keepFocus, [])
  useTitle(view.title(uploads))
  useTakingHold(uploads)
  return (
    <>
      {data.link === null ? (
        <Sending {...props} uploads={uploads} view={view} />
      ) : (
        <Contributing {...props} link={data.link} uploads={uploads} view={view} />
      )}
      <Announcements items={uploads.items} view={view} />
    </>
  )
}

interface PartProps extends StartAppProps {
  readonly uploads: ReturnType<UploadEngine['snapshot']>
  readonly view: View
}

/** What is dropped becomes a transfer; while one is open, what comes next goes into it. */
function Sending({ data, engine, receipts, transfer, early = NONE, uploads, view }: PartProps) {
  const { texts } = data
  const { items, total } = uploads
  const state = useSyncExternalStore(transfer.subscribe, transfer.snapshot, () => NO_TRANSFER)
  const isEmpty = items.length === 0
  const isOver = isWhole(items)

  const addToThis = useCallback((picked: readonly Picked[]) => engine.add(picked), [engine])
  const add = useCallback(
    (picked: readonly Picked[]) => {
      if (picked.length === 0) return
      if (isWhole(engine.snapshot().items)) {
        transfer.startOver()
        engine.act((list) => list.clear())
      }
      engine.add(picked)
    },
    [engine, transfer],
  )
  useEffect(() => add(early), [add, early])
  const refuse = useRefusing(engine)
  const drop = useDrop(add, refuse, items.length)
  usePaste(data, add)
  const [isWriting, setIsWriting] = useState(false)
  const [isWritten, setIsWritten] = useState(false)
  useLeaveWarning(total.isActive || isWritten)

  return (
    <>
      {isEmpty ? null : (
        <TransferPanel
          engine={engine}
          isSignedIn={data.isSignedIn}
          state={state}
          transfer={transfer}
          uploads={uploads}
          view={view}
        />
      )}
      {isWriting ? (
        <TypedText add={add} close={() => setIsWriting(false)} texts={texts} written={setIsWritten} />
      ) : (
        <DropZone
          add={add}
          {...(isOver ? { addToThis } : {})}
          invitation={isOver ? texts.transfer.another : texts.addMore}
          isOver={drop.isOver}
          isSmall={!isEmpty}
          link={null}
          open={engine.open}
          refuse={refuse}
          texts={texts}
          told={drop.isEmpty ? texts.nothingDropped : null}
          write={() => setIsWriting(true)}
        />
      )}
      {isEmpty ? (
        <div className="chips-before">
          <TermChips
            change={(terms) => transfer.change(terms)}
            isGuest={!data.isSignedIn}
            terms={state.terms}
            view={view}
          />
        </div>
      ) : null}
      <EarlierUploads
        isSignedIn={data.isSignedIn}
        listed={state.made === null ? NONE : [state.made.link]}
        receipts={receipts}
        view={view}
      />
    </>
  )
}

/** For the owner of an upload link. */
function Contributing({
  data,
  engine,
  receipts,
  answers,
  early = NONE,
  uploads,
  view,
  link,
}: PartProps & {
  readonly link: AskingLink
}) {
  const { texts } = data
  const { items, total } = uploads
  const asks = link.fields.length > 0
  const begin = useBeginning(engine)
  const sending = useHeld(begin)
  const { add, refused, giveBack } = useRoom(link.filesLeft, items, asks ? sending.hold : begin)
  const discard = () => {
    giveBack(sending.held.length)
    sending.discard()
  }
  useEffect(() => add(early), [add, early])
  const refuse = useRefusing(engine)
  const drop = useDrop(add, refuse, items.length + sending.held.length)
  usePaste(data, add)
  useLeaveWarning(total.isActive || sending.held.length > 0)
  const receiptOf = useCallback(
    (address: string) => {
      const receipt = receipts.find(address)?.receipt
      return receipt === undefined ? null : `/r/${encodeURIComponent(receipt)}`
    },
    [receipts],
  )
  const nothing = drop.isEmpty ? texts.nothingDropped : null

  return (
    <>
      {items.length === 0 ? null : (
        <LinkUploads engine={engine} receiptOf={receiptOf} uploads={uploads} view={view} />
      )}
      {asks ? (
        <AskedFields answers={answers} fields={link.fields} sending={{ ...sending, discard }} view={view} />
      ) : null}
      {link.isFull ? null : (
        <DropZone
          add={add}
          invitation={texts.addMore}
          isOver={drop.isOver}
          isSmall={items.length + sending.held.length > 0}
          link={link}
          open={engine.open}
          refuse={refuse}
          texts={texts}
          told={refused === null ? nothing : view.words.count(refused, texts.tooMany)}
        />
      )}
      <EarlierUploads
        isSignedIn={false}
        listed={items.flatMap(({ link: own }) => (own === null ? [] : [own]))}
        receipts={receipts}
        view={view}
      />
    </>
  )
}

/** Uploads what is new, in a list that is not mixed with what earlier pages have finished. */
function useBeginning(engine: UploadEngine) {
  return useCallback(
    (picked: readonly Picked[]) => {
      if (picked.length === 0) return
      engine.act((list) => list.makeRoomFor(picked))
      engine.add(picked)
    },
    [engine],
  )
}

/** Lists what cannot be read. */
function useRefusing(engine: UploadEngine) {
  return useCallback(
    (paths: readonly string[]) => {
      if (paths.length > 0) engine.act((list) => list.refuse(paths, null))
    },
    [engine],
  )
}

const NONE: readonly never[] = []

/** On the server there are none. */
export const noReceipts = openReceiptStore(null)
export const noTransfer = (): CurrentTransfer => new CurrentTransfer(noReceipts)

/** Without its script the page has no list: the zone alone, as a form. */
export const noUploads: UploadEngine = {
  snapshot: () => NOTHING,
  subscribe: () => () => {},
  add() {},
  act() {},
  open() {},
}

function usePaste(data: StartPageData, add: (picked: readonly Picked[]) => void): void {
  useEffect(() => {
    function paste(event: ClipboardEvent): void {
      if (event.clipboardData === null || isField(event.target)) return
      const picked = pastedFiles(event.clipboardData, data.texts.pasted, new Date())
      if (picked.length > 0) event.preventDefault()
      add(picked)
    }
    document.addEventListener('paste', paste)
    return () => document.removeEventListener('paste', paste)
  }, [data, add])
}

function isField(target: EventTarget | null): boolean {
  return target instanceof HTMLInputElement || target instanceof HTMLTextAreaElement
}

/** `null` leaves the title that the page came with. */
function useTitle(title: string | null): void {
  useEffect(() => {
    if (title === null) return
    const before = document.title
    document.title = titleOf(title)
    return () => {
      document.title = before
    }
  }, [title])
}
