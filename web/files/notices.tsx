import { Button } from '@mantine/core'
import { useEffect, useState, useSyncExternalStore } from 'react'
import { Drawing } from '../shared/drawings/drawing.tsx'
import { SAID_FOR, Said, type Saying } from '../shared/said.tsx'
import { SignInLink, useSessionOver } from '../shared/sign-in-link.tsx'
import { Told } from '../shared/told.tsx'
import { fill } from '../shared/words.ts'
import { ClaimPanel } from '../uploads/claims/claim-panel.tsx'
import { openReceiptStore } from '../uploads/receipts.ts'
import { storage } from '../uploads/storage.ts'
import { type Place, TOP } from './entry.ts'
import { type FilesContextValue, useFiles } from './files-context.ts'
import { reasonOf } from './network-text.ts'
import type { OperationDescription } from './operation-work.ts'
import type { FileOperation } from './operations.ts'
import { SignedOutNotice } from './signed-out.tsx'

const SHOWN = 3

const receipts = openReceiptStore(storage())

export function NoticeList({ said }: { said: Saying }) {
  const { texts, manager, words, data, shown } = useFiles()
  const isSessionOver = useSessionOver()
  const operations = useSyncExternalStore(manager.operations.subscribe, manager.operations.snapshot)
  const isSaid =
    operations.some(({ state }) => state === 'signed out') ||
    (shown.problem === 'signed out' && manager.listing.total() === null)
  return (
    <section aria-label={texts.operations.list} className="notices">
      <ClaimPanel className="notice" receipts={receipts} texts={data.uploads.claim} words={words} />
      {operations.slice(-SHOWN).map((operation) => (
        <Notice key={operation.id} operation={operation} />
      ))}
      {isSessionOver && !isSaid ? <SignedOutNotice /> : null}
      <Said saying={said} />
    </section>
  )
}

function Notice({ operation }: { operation: FileOperation<OperationDescription> }) {
  const files = useFiles()
  const { texts, manager, commands } = files
  const { id, state, failed, canUndo } = operation
  const [isHeld, setIsHeld] = useState(false)
  const isHeldUp = state === 'waiting' || state === 'signed out'
  const isWell = state === 'over' && failed.length === 0

  useEffect(() => {
    if (!isWell || isHeld) return
    const timer = setTimeout(() => manager.operations.dismiss(id), SAID_FOR)
    return () => clearTimeout(timer)
  }, [isWell, isHeld, id, manager])

  return (
    <div
      className="notice"
      data-state={failed.length > 0 ? 'failed' : state}
      onBlur={() => setIsHeld(false)}
      onFocus={() => setIsHeld(true)}
      onPointerEnter={() => setIsHeld(true)}
      onPointerLeave={() => setIsHeld(false)}
    >
      <Told className="notice-words">
        <p>{sentence(operation, files)}</p>
        {isHeldUp ? <p className="small quiet">{progress(operation, files)}</p> : null}
        {failed.length === 0 ? null : <p className="small failure">{failure(operation, files)}</p>}
      </Told>
      <div className="notice-actions">
        {state === 'waiting' ? (
          <Button onClick={() => manager.operations.retry()} variant="subtle">
            {texts.operations.retry}
          </Button>
        ) : null}
        {state === 'signed out' ? <SignInLink label={texts.problems.signIn} /> : null}
        {canUndo && (state === 'over' || isHeldUp) ? (
          <Button leftSection={<Drawing of="undo" />} onClick={() => commands.undo(id)} variant="subtle">
            {texts.operations.undo}
          </Button>
        ) : null}
        {state === 'over' ? (
          <button
            aria-label={texts.operations.close}
            className="icon-button"
            onClick={() => manager.operations.dismiss(id)}
            type="button"
          >
            <Drawing of="cross" />
          </button>
        ) : null}
      </div>
    </div>
  )
}

function sentence(
  { kind, state, done, total, isUndo }: FileOperation<OperationDescription>,
  files: FilesContextValue,
): string {
  const { texts, words } = files
  const { operations } = texts
  const isOver = state === 'over'
  const count = isOver ? done : total
  switch (kind.kind) {
    case 'move': {
      const forms = isOver ? (isUndo ? operations.movedBack : operations.moved) : operations.moving
      return fill(words.count(count, forms), { place: nameOf(kind.to, files) })
    }
    case 'remove':
      return words.count(count, isOver ? operations.removed : operations.removing)
    case 'rename':
      return fill(isOver ? texts.announced.renamed : texts.announced.renaming, { name: kind.name })
    case 'restore':
      return words.count(count, isOver ? operations.restored : operations.restoring)
  }
}

function progress(
  { done, total, state }: FileOperation<OperationDescription>,
  { texts, words }: FilesContextValue,
): string {
  const { waiting, waitingOffline, waitingSignedOut } = texts.operations
  const why = navigator.onLine ? waiting : waitingOffline
  return fill(state === 'signed out' ? waitingSignedOut : why, {
    done: words.number(done),
    total: words.number(total),
  })
}

function failure(
  { failed }: FileOperation<OperationDescription>,
  { texts, words }: FilesContextValue,
): string {
  const [first] = failed
  if (first === undefined) return ''
  const sentence = fill(words.count(failed.length, texts.operations.failed), { name: first.name })
  return `${sentence} ${reasonOf(first.code, texts)}`
}

function nameOf(place: Place, { texts, shown }: FilesContextValue): string {
  return place === TOP ? texts.top : (shown.tree?.find(place)?.name ?? '')
}
