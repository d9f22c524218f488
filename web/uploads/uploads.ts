import { Board, type BoardEntry } from './board.ts'
import { Cancelled } from './cancelled.ts'
import { createCancelledMarks } from './cancelled-marks.ts'
import { KeptChunkSize } from './chunk-size.ts'
import { createFinished } from './finished.ts'
import { Interrupted } from './interrupted.ts'
import { KeptUploads } from './kept-uploads.ts'
import { Line } from './line.ts'
import type { Picked } from './picked.ts'
import { createReceiptDeletion, type ReceiptDeletion } from './receipt-deletion.ts'
import { openReceiptStore } from './receipts.ts'
import { createSemaphore } from './semaphore.ts'
import type { Destination } from './server.ts'
import { storage } from './storage.ts'
import type { TransferContext } from './transfer-context.ts'
import { isActive, isBroken, isOver, type Target, type UploadItem, type Uploads } from './upload-item.ts'
import { type UploadRunContext, UploadRunner } from './upload-runner.ts'
import { UploadStore } from './upload-store.ts'
import { windowName } from './window-name.ts'

export interface UploadElsewhere extends Target {
  readonly name: string
  readonly size: number
  readonly received: number
  readonly location: string
  readonly url: string
}

const PARALLEL = 3
/** A twentieth of what the server allows a guest's address, which the pages of an office may share. */
const MOST_AHEAD = 50

export async function openUploadList(options: {
  readonly to: Destination
  /** Uploads of each sort are kept apart. */
  readonly sort: 'guest' | 'account' | 'link'
  /** Bytes per file. */
  readonly limit: number
  /** Called with the name of the window, by which it stores what has to outlive its page. */
  readonly opened?: (window: string) => void
}): Promise<UploadList> {
  const name = await windowName()
  const link = options.to.link?.slug ?? null
  const window = [options.sort === 'guest' ? [] : [options.sort], link ?? [], name].flat().join('-')
  options.opened?.(window)
  const store = await UploadStore.open()
  const kept = await KeptUploads.open(store, window)
  const chunks = new KeptChunkSize(storage(), Date.now)
  const lane = () => ({ line: new Line(Date.now, Math.random), turns: createSemaphore(PARALLEL) })
  const ahead = createSemaphore(MOST_AHEAD)
  const way: TransferContext = {
    ...{ ...options, kept, chunks, ahead, creating: lane(), sending: lane() },
  }
  listenForNetwork(way)
  const list = new UploadList({
    way,
    board: new Board(),
    finished: createFinished(window),
    receipts: openReceiptStore(storage(), link),
    marks: createCancelledMarks(storage(), window),
  })
  await list.restore()
  return list
}

export class UploadList {
  readonly #parts: UploadRunContext
  readonly #runs: UploadRunner
  readonly #cancelled: Cancelled
  readonly #interrupted: Interrupted
  readonly #deletion: ReceiptDeletion
  /** Finished by earlier pages; dropped once this one begins an upload. */
  #earlier: readonly BoardEntry[] = []

  constructor(parts: UploadRunContext) {
    this.#parts = parts
    this.#runs = new UploadRunner(parts, (entry) =>
      // It may be the next interrupted upload's file, or a new one.
      this.#interrupted.takeBack(entry, ({ picked, folder }) => this.#add(picked, folder, [])),
    )
    this.#cancelled = new Cancelled(parts, this.#runs)
    this.#interrupted = new Interrupted(parts, this.#runs)
    this.#deletion = createReceiptDeletion(parts)
  }

  snapshot(): Uploads {
    return this.#parts.board.snapshot()
  }

  subscribe(changed: () => void): () => void {
    return this.#parts.board.subscribe(changed)
  }

  /** Lists earlier pages' uploads, and resumes those that need no input. */
  async restore(): Promise<void> {
    const { board, finished, receipts } = this.#parts
    this.#earlier = finished.list().map((item) => {
      const isOurs = item.receipt !== undefined || (item.link !== null && receipts.find(item.link) !== null)
      const state = { kind: 'done', deletion: isOurs ? 'possible' : null } as const
      return board.add({ ...item, sent: item.size, state }, null, false)
    })
    await this.#interrupted.restore()
  }

  /**
   * New uploads must not be taken for part of earlier ones, which may be for other recipients. These stay
   * while more are coming, or while one of `picked` resumes them.
   */
  makeRoomFor(picked: readonly Picked[]): void {
    const { board } = this.#parts
    const earlier = this.#earlier
    this.#earlier = []
    if (board.all().some(({ item }) => isActive(item))) return
    const goesOn = (each: Picked) =>
      this.#interrupted.whoseFile(each, null) !== null || this.#interrupted.mayHave(each, null, board.all())
    if (picked.some(goesOn)) return
    this.#takeOff(earlier)
  }

  clear(): void {
    this.#earlier = []
    this.#takeOff(this.#parts.board.all().filter(({ item }) => isOver(item)))
    this.#parts.board.showNow()
  }

  /** Ends all of it, also what is under way. */
  abandon(): void {
    for (const entry of this.#parts.board.all()) this.#runs.stop(entry)
    this.#takeOff(this.#parts.board.all())
    this.#parts.board.showNow()
  }

  /** Gives up those that failed or are interrupted. */
  giveUpBroken(): void {
    this.#takeOff(this.#parts.board.all().filter(({ item }) => isBroken(item)))
    this.#parts.board.showNow()
  }

  /** `folder`: null for the top level, or where there are none. `ids`: of rows shown before. */
  add(picked: readonly Picked[], folder: string | null, ids: readonly string[] = []): void {
    this.#parts.board.startRound()
    // Files picked together are never duplicates, however alike.
    const before = this.#parts.board.all()
    for (const [index, each] of picked.entries()) this.#add(each, folder, before, ids[index])
    this.#parts.board.showNow()
  }

  refuse(paths: readonly string[], folder: string | null): void {
    const { board } = this.#parts
    for (const path of paths) {
      const name = path.slice(path.lastIndexOf('/') + 1)
      const shown = { name, size: 0, sent: 0, link: null, folder, path: name === path ? null : path }
      board.add({ ...shown, state: { kind: 'failed', problem: { kind: 'unreadable' } } }, null, false)
    }
    board.showNow()
  }

  pause(id: string): void {
    this.#with(id, (entry) => this.#pause(entry))
  }

  /** Resumes a paused, failed or just cancelled upload. */
  resume(id: string): void {
    this.#with(id, (entry) => this.#resume(entry))
  }

  pauseAll(): void {
    const { board } = this.#parts
    for (const entry of board.all()) this.#pause(entry)
    board.showNow()
  }

  resumeAll(): void {
    const { board } = this.#parts
    for (const entry of board.all()) if (entry.item.state.kind === 'paused') this.#resume(entry)
    board.showNow()
  }

  /** `resume` takes this back for a moment. */
  cancel(id: string): void {
    this.#with(id, (entry) => {
      if (entry.keptId !== null) this.#cancelled.add(entry)
    })
  }

  tryNow(): void {
    for (const { line } of [this.#parts.way.creating, this.#parts.way.sending]) line.tryNow()
  }

  /** Of a guest's stored file: asks, deletes for good, or keeps. */
  deletion(id: string, step: 'ask' | 'do' | 'keep'): void {
    this.#with(id, (entry) => this.#deletion[step](entry))
  }

  remove(id: string): void {
    this.#with(id, (entry) => {
      if (!isActive(entry.item)) this.#takeOff([entry])
    })
  }

  reopen(id: string): void {
    this.#with(id, (entry) => void this.#interrupted.reopen(entry))
  }

  /** Resumes if this is the upload's file, and reports a different one. */
  giveFile(id: string, file: File): void {
    this.#with(id, (entry) => this.#interrupted.giveFile(entry, file))
  }

  takeOver(upload: UploadElsewhere, file: File): void {
    const { board, way } = this.#parts
    const { name, size, received, location, url, folder, path } = upload
    if (board.all().some(({ item }) => item.link === url)) return
    const created = { address: location, link: url, isTakenOver: true } as const
    const { id } = way.kept.add({ file, handle: null, target: { folder, path }, created })
    board.startRound()
    this.#run({ name, size, sent: received, link: url, folder, path, state: { kind: 'queued' } }, id)
  }

  #takeOff(entries: readonly BoardEntry[]): void {
    const { board, finished } = this.#parts
    finished.remove(...entries.map(({ item }) => item))
    for (const entry of entries) {
      this.#runs.giveUp(entry)
      board.remove(entry)
    }
  }

  #add(picked: Picked, folder: string | null, before: readonly BoardEntry[], id?: string): void {
    const entry = this.#interrupted.whoseFile(picked, folder)
    if (entry !== null) this.#interrupted.giveFile(entry, picked.file, { picked, folder })
    else if (this.#interrupted.mayHave(picked, folder, before)) {
      void this.#interrupted.whichHas(picked, folder, before).then((found) => {
        if (found === null) this.#start(picked, folder, id)
        else this.#resume(found)
        this.#parts.board.showNow()
      })
    } else this.#start(picked, folder, id)
  }

  #start({ file, handle, path }: Picked, folder: string | null, id?: string): void {
    const { board, way } = this.#parts
    const shown = { name: file.name, size: file.size, sent: 0, link: null, folder, path, file }
    if (file.size > way.limit) {
      const problem = { kind: 'too-large', limit: way.limit } as const
      board.add({ ...shown, state: { kind: 'failed', problem } }, null, false, id)
      return
    }
    const kept = way.kept.add({ file, handle, target: { folder, path }, created: null })
    this.#run({ ...shown, state: { kind: 'starting' } }, kept.id, id)
  }

  #run(shown: Omit<UploadItem, 'id'>, keptId: string, id?: string): void {
    this.#runs.start(this.#parts.board.add(shown, keptId, true, id))
  }

  #pause(entry: BoardEntry): void {
    if (!isActive(entry.item)) return
    this.#runs.stop(entry)
    this.#parts.board.setState(entry, { kind: 'paused' })
  }

  #resume(entry: BoardEntry): void {
    if (!['paused', 'failed', 'cancelled'].includes(entry.item.state.kind)) return
    const before = this.#cancelled.takeBack(entry)
    if (before?.kind === 'paused' || before?.kind === 'interrupted') {
      this.#parts.board.setState(entry, before)
    } else this.#runs.start(entry)
  }

  #with(id: string, act: (entry: BoardEntry) => void): void {
    const { board } = this.#parts
    const entry = board.find(id)
    if (entry === null) return
    act(entry)
    board.showNow()
  }
}

function listenForNetwork({ creating, sending }: TransferContext): void {
  const nudge = () => {
    creating.line.nudge()
    sending.line.nudge()
  }
  addEventListener('online', nudge)
  document.addEventListener('visibilitychange', () => {
    if (document.visibilityState === 'visible') nudge()
  })
}
