import { type Board, createBoard, type Entry } from './board.ts'
import { createCancelled } from './cancelled.ts'
import { createCancelledMarks } from './cancelled-marks.ts'
import { createChunkSize } from './chunk-size.ts'
import { createFileHandles } from './file-handles.ts'
import { createFinished } from './finished.ts'
import { createInterrupted } from './interrupted.ts'
import { openKeptUploads } from './kept-uploads.ts'
import { createLine } from './line.ts'
import type { Picked } from './picked.ts'
import { createReceiptDeletion } from './receipt-deletion.ts'
import { createReceipts } from './receipts.ts'
import { createRuns, type Parts } from './runs.ts'
import type { Destination } from './server.ts'
import { storage } from './storage.ts'
import type { Way } from './transfer.ts'
import { createTurns } from './turns.ts'
import { isActive } from './upload-item.ts'
import { windowName } from './window-name.ts'

/** What a page does with uploads. It knows nothing of how they are shown. */
export interface UploadList extends Pick<Board, 'snapshot' | 'subscribe'> {
  /**
   * Starts them; one that an earlier page did not finish goes on where it was. `folder`: where they go; null for the top
   * level, or where there are no folders.
   */
  add(picked: readonly Picked[], folder: string | null): void
  pause(id: string): void
  /** Goes on with what was paused, has failed, or was cancelled just now. */
  resume(id: string): void
  pauseAll(): void
  resumeAll(): void
  /** Gives an upload up, in a moment in which `resume` takes that back. */
  cancel(id: string): void
  /** Whatever waits tries at once. */
  tryNow(): void
  /** Of a guest's file that is stored: asks whether to delete it, deletes it for good, or thinks better of it. */
  deletion(id: string, step: 'ask' | 'do' | 'keep'): void
  /** Takes it off the list; a file that is stored stays stored. */
  remove(id: string): void
  /** In a click: goes on with an interrupted upload whose file the browser can find again. */
  reopen(id: string): void
  /** Goes on with an interrupted upload if this is its file, and says so if it is not. */
  giveFile(id: string, file: File): void
  /** Goes on with an upload that was begun in another browser or by a program. Its file must be the same. */
  takeOver(upload: UploadElsewhere, file: File): void
}

/** An upload that is on the server alone. */
export interface UploadElsewhere {
  readonly name: string
  readonly size: number
  readonly received: number
  /** Where its owner goes on with it. */
  readonly location: string
  /** The link to give away. */
  readonly url: string
}

const PARALLEL = 3

export async function openUploadList(options: {
  readonly to: Destination
  /** Whose uploads they are: those of another sort are kept apart. */
  readonly sort: 'guest' | 'account'
  /** Bytes that one file may have. */
  readonly limit: number
}): Promise<UploadList> {
  const name = await windowName()
  const window = options.sort === 'guest' ? name : `${options.sort}-${name}`
  const chunks = createChunkSize(storage(), Date.now)
  const kept = await openKeptUploads({ window, chunks, headers: options.to.headers, parallel: PARALLEL })
  const handles = createFileHandles(`holdfast-${window}`)
  const lane = () => ({ line: createLine(Date.now, Math.random), turns: createTurns(PARALLEL) })
  const way: Way = { ...options, kept, chunks, creating: lane(), sending: lane() }
  listenForNetwork(way)
  return createUploadList({
    way,
    board: createBoard(),
    handles,
    finished: createFinished(window),
    receipts: createReceipts(storage()),
    marks: createCancelledMarks(storage(), window),
  })
}

async function createUploadList(parts: Parts): Promise<UploadList> {
  const { way, board, handles, finished, receipts } = parts
  const runs = createRuns(parts)
  const cancelled = createCancelled(parts, runs)
  const interrupted = createInterrupted(parts, runs)
  const deletion = createReceiptDeletion(parts)
  for (const item of finished.list()) {
    const isOurs = item.link !== null && receipts.find(item.link) !== null
    const state = { kind: 'done', deletion: isOurs ? 'possible' : null } as const
    board.add({ ...item, sent: item.size, state }, null, false)
  }
  await interrupted.restore()

  function startNew({ file, handle, path }: Picked, folder: string | null): void {
    const shown = { name: file.name, size: file.size, sent: 0, link: null }
    if (file.size > way.limit) {
      const problem = { kind: 'too-large', limit: way.limit } as const
      board.add({ ...shown, state: { kind: 'failed', problem } }, null, false)
      return
    }
    const upload = way.kept.add(file, path, folder)
    if (upload === null) return
    parts.marks.remove(upload.id)
    if (handle !== null) void handles.keep(upload.id, handle)
    runs.start(board.add({ ...shown, state: { kind: 'starting' } }, upload.id, true))
  }

  function pause(entry: Entry): void {
    if (!isActive(entry.item)) return
    runs.stop(entry)
    board.setState(entry, { kind: 'paused' })
  }

  function resume(entry: Entry): void {
    if (!['paused', 'failed', 'cancelled'].includes(entry.item.state.kind)) return
    const before = cancelled.takeBack(entry)
    if (before?.kind === 'paused' || before?.kind === 'interrupted') board.setState(entry, before)
    else runs.start(entry)
  }

  function on(id: string, act: (entry: Entry) => void): void {
    const entry = board.find(id)
    if (entry !== null) act(entry)
  }

  return {
    snapshot: board.snapshot,
    subscribe: board.subscribe,

    add(picked, folder) {
      board.startRound()
      for (const each of picked) {
        const entry = interrupted.whoseFile(each, folder)
        if (entry === null) startNew(each, folder)
        else if (entry.item.state.kind === 'interrupted') interrupted.giveFile(entry, each.file)
        else resume(entry)
      }
    },

    pause: (id) => on(id, pause),
    resume: (id) => on(id, resume),

    pauseAll() {
      for (const entry of board.all()) pause(entry)
    },

    resumeAll() {
      for (const entry of board.all()) if (entry.item.state.kind === 'paused') resume(entry)
    },

    cancel: (id) =>
      on(id, (entry) => {
        if (entry.keptId !== null) cancelled.add(entry)
      }),

    tryNow() {
      for (const { line } of [way.creating, way.sending]) line.tryNow()
    },

    deletion: (id, step) => on(id, (entry) => deletion[step](entry)),

    remove: (id) =>
      on(id, (entry) => {
        if (isActive(entry.item)) return
        if (entry.item.state.kind === 'done') finished.remove(entry.item)
        runs.giveUp(entry)
        board.remove(entry)
      }),

    reopen: (id) => on(id, (entry) => void interrupted.reopen(entry)),
    giveFile: (id, file) => on(id, (entry) => interrupted.giveFile(entry, file)),

    takeOver({ name, size, received, location, url }, file) {
      if (board.all().some(({ item }) => item.link === url)) return
      const upload = way.kept.takeOver(file, { address: location, link: url, isTakenOver: true })
      if (upload === null) return
      board.startRound()
      runs.start(
        board.add({ name, size, sent: received, link: url, state: { kind: 'queued' } }, upload.id, true),
      )
    },
  }
}

/** Whatever waits because nobody answered tries at once when the network is back, or the person. */
function listenForNetwork({ creating, sending }: Way): void {
  const nudge = () => {
    creating.line.nudge()
    sending.line.nudge()
  }
  addEventListener('online', nudge)
  document.addEventListener('visibilitychange', () => {
    if (document.visibilityState === 'visible') nudge()
  })
}
