import { useCallback, useEffect, useMemo, useState, useSyncExternalStore } from 'react'
import { zoneHere } from '../../src/domain/days.ts'
import { titleOf } from '../shared/site-name.ts'
import { ThemeProvider } from '../shared/theme-provider.tsx'
import { createWords } from '../shared/words.ts'
import { NOTHING, type UploadEngine } from '../uploads/engine.ts'
import { Announcements } from '../uploads/list/announcements.tsx'
import { UploadListView } from '../uploads/list/upload-list.tsx'
import { View } from '../uploads/list/view.ts'
import type { Picked } from '../uploads/picked.ts'
import { openReceiptStore, type ReceiptStore } from '../uploads/receipts.ts'
import type { Uploads } from '../uploads/upload-item.ts'
import { useLeaveWarning } from '../uploads/use-leave-warning.ts'
import type { Answers } from './answers.ts'
import { AskedFields, useHeld } from './asked-fields.tsx'
import type { StartPageData } from './data.ts'
import { DropZone } from './drop-zone.tsx'
import { EarlierUploads } from './earlier-uploads.tsx'
import { keptOneLink, type OneLinkMade } from './kept-one-link.ts'
import { OneLink, showsMade } from './one-link.tsx'
import { pastedFiles } from './pasted.ts'
import { TypedText } from './typed-text.tsx'
import { useDrop } from './use-drop.ts'
import { useRoom } from './use-room.ts'
import { useTakingHold } from './use-taking-hold.ts'

interface StartAppProps {
  readonly data: StartPageData
  readonly engine: UploadEngine
  readonly receipts: ReceiptStore
  readonly answers: Answers
  /** Chosen before the script was there. */
  readonly early?: readonly Picked[]
}

/** The start page, and that of an upload link: a place to drop files, which becomes the list of uploads. */
export function StartApp({ data, engine, receipts, answers, early = NONE }: StartAppProps) {
  const { link } = data
  const uploads = useSyncExternalStore(engine.subscribe, engine.snapshot, () => NOTHING)
  const { items, total } = uploads
  const view = useMemo(() => new View(data, createWords(data.locale, zoneHere()), data.link === null), [data])
  const asks = link !== null && link.fields.length > 0
  const begin = useBeginning(engine)
  const sending = useHeld(begin)
  const { add, refused, giveBack } = useRoom(link?.filesLeft ?? null, items, asks ? sending.hold : begin)
  const discard = () => {
    giveBack(sending.held.length)
    sending.discard()
  }
  useEffect(() => add(early), [add, early])
  const refuse = useRefusing(engine)
  const { isOver, isEmpty: isNothing } = useDrop(add, refuse, items.length + sending.held.length)
  usePaste(data, add)
  const [isWritten, setIsWritten] = useState(false)
  useLeaveWarning(total.isActive || isWritten || sending.held.length > 0)
  const title = view.title(uploads)
  useTitle(title)
  useTakingHold(uploads)
  const isEmpty = items.length === 0
  const [made, setMade] = useMade(data.isSignedIn ? null : receipts)

  const receiptOf = useCallback((link: string) => receipts.find(link)?.receipt ?? null, [receipts])
  const listed = { items, made, receipts: data.isSignedIn ? null : receipts }
  const oneLink =
    link === null ? (
      <div className="one-link-place" data-heir=".one-link .copy">
        <OneLink {...listed} show={setMade} view={view} />
      </div>
    ) : null

  return (
    <ThemeProvider>
      {isEmpty ? null : (
        <UploadListView
          engine={engine}
          forAll={items.length > 1 ? oneLink : null}
          {...(link === null ? {} : { receiptOf })}
          uploads={uploads}
          view={view}
        />
      )}
      {items.length > 1 ? null : oneLink}
      {asks ? (
        <AskedFields answers={answers} fields={link.fields} sending={{ ...sending, discard }} view={view} />
      ) : null}
      {link?.isFull ? null : (
        <DropZone
          add={add}
          told={
            refused === null
              ? isNothing
                ? data.texts.nothingDropped
                : null
              : view.words.count(refused, data.texts.tooMany)
          }
          isOver={isOver}
          isSmall={!isEmpty || sending.held.length > 0}
          link={link}
          open={engine.open}
          refuse={refuse}
          texts={data.texts}
        />
      )}
      {link === null ? (
        <TypedText add={add} open={engine.open} texts={data.texts} written={setIsWritten} />
      ) : null}
      <EarlierUploads
        isSignedIn={data.isSignedIn && link === null}
        listed={linksOf(uploads, showsMade(listed) ? made : null)}
        receipts={receipts}
        view={view}
      />
      <Announcements items={items} view={view} />
    </ThemeProvider>
  )
}

function linksOf({ items }: Uploads, made: OneLinkMade | null): readonly string[] {
  const own = items.flatMap(({ link }) => (link === null ? [] : [link]))
  return made === null ? own : [...own, made.link]
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

/** The one link that was made last, by this page or before a reload. */
function useMade(receipts: ReceiptStore | null) {
  const state = useState<OneLinkMade | null>(null)
  const [, setMade] = state
  useEffect(() => {
    void keptOneLink(receipts).then((kept) => setMade((made) => made ?? kept))
  }, [receipts, setMade])
  return state
}

const NONE: readonly Picked[] = []

/** On the server there are none. */
export const noReceipts = openReceiptStore(null)

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
