import { RequestFailure } from './answers.ts'
import { createChunkSize } from './chunk-size.ts'
import { createFileHandles, type FileHandles, mayRead } from './file-handles.ts'
import { createFinished, type Finished } from './finished.ts'
import { type KeptUpload, openKeptUploads } from './kept-uploads.ts'
import { createLine } from './line.ts'
import { createPacer, type Pacer } from './pace.ts'
import type { Picked } from './picked.ts'
import { type Destination, lookAtUpload, terminateUpload } from './server.ts'
import { transfer, UploadOver, type Way } from './transfer.ts'
import { createTurns } from './turns.ts'
import { isActive, NO_PACE, type UploadItem, type UploadState, type Uploads } from './upload-item.ts'
import { judge } from './verdict.ts'
import { windowName } from './window-name.ts'

/** What a page does with uploads. It knows nothing of how they are shown. */
export interface UploadList {
  /** The same object as long as nothing has changed. */
  snapshot(): Uploads
  /** Returns what ends it. */
  subscribe(changed: () => void): () => void
  /** Starts them; one that an earlier page did not finish goes on where it was. */
  add(picked: readonly Picked[]): void
  pause(id: string): void
  /** Goes on with what was paused, has failed, or was cancelled just now. */
  resume(id: string): void
  pauseAll(): void
  resumeAll(): void
  /** Gives an upload up, in a moment in which `resume` takes that back. */
  cancel(id: string): void
  /** Takes it off the list; a file that is stored stays stored. */
  remove(id: string): void
  /** In a click: goes on with an interrupted upload whose file the browser can find again. */
  reopen(id: string): Promise<void>
  /** Goes on with an interrupted upload if this is its file, and says so if it is not. */
  giveFile(id: string, file: File): void
}

const PARALLEL = 3
/** Milliseconds between two looks at how far things are. */
const TICK = 250
/** So long a cancelled upload can be taken back. */
const SECOND_THOUGHTS = 6000

/** What the page knows of an upload besides what it shows. */
interface Entry {
  item: UploadItem
  /** Null once nothing has to outlive the page. */
  keptId: string | null
  /** While it works towards its end. */
  running: AbortController | null
  sent: number
  pacer: Pacer | null
  /** Files of one round are counted together. */
  readonly round: number
}

export async function openUploadList(options: {
  readonly to: Destination
  /** Bytes that one file may have. */
  readonly limit: number
}): Promise<UploadList> {
  const window = await windowName()
  const now = () => performance.now()
  const line = () => createLine(now, Math.random)
  const chunks = createChunkSize(storage(), Date.now)
  const kept = await openKeptUploads({ window, chunks, headers: options.to.headers, parallel: PARALLEL })
  const way: Way = {
    ...options,
    kept,
    chunks,
    creating: { line: line(), turns: createTurns(PARALLEL) },
    sending: { line: line(), turns: createTurns(PARALLEL) },
  }
  const list = createUploadList(way, createFileHandles(`holdfast-${window}`), createFinished(window))
  await list.restore()
  return list
}

function createUploadList(
  way: Way,
  handles: FileHandles,
  finished: Finished,
): UploadList & { restore(): Promise<void> } {
  const { kept } = way
  const entries = new Map<string, Entry>()
  const listeners = new Set<() => void>()
  let count = 0
  let round = 0
  let totalPacer: Pacer | null = null
  let snapshot: Uploads = { items: [], total: { size: 0, sent: 0, pace: NO_PACE, isActive: false } }
  let timer: ReturnType<typeof setInterval> | null = null

  function publish(): void {
    const items = [...entries.values()].map(({ item }) => item)
    snapshot = { items, total: total() }
    for (const changed of listeners) changed()
  }

  function total(): Uploads['total'] {
    const counted = [...entries.values()].filter((entry) => entry.round === round && counts(entry.item))
    const size = sum(counted.map(({ item }) => item.size))
    const sent = sum(counted.map(({ item }) => item.sent))
    const sending = counted.some(({ item }) => item.state.kind === 'sending')
    if (!sending) totalPacer = null
    else totalPacer ??= createPacer(sent, performance.now())
    const pace = totalPacer?.tick(sent, size, performance.now()) ?? NO_PACE
    return { size, sent, pace, isActive: [...entries.values()].some(({ item }) => isActive(item)) }
  }

  function tick(): void {
    const active = [...entries.values()].filter(({ item }) => isActive(item))
    for (const entry of active) measure(entry)
    publish()
    if (active.length === 0 && timer !== null) {
      clearInterval(timer)
      timer = null
    }
  }

  function measure(entry: Entry): void {
    const { item, sent } = entry
    if (item.state.kind !== 'sending') return
    entry.pacer ??= createPacer(sent, performance.now())
    const pace = entry.pacer.tick(sent, item.size, performance.now())
    entry.item = { ...item, sent, state: { kind: 'sending', pace } }
  }

  function change(entry: Entry, patch: Partial<Omit<UploadItem, 'id'>>): void {
    entry.item = { ...entry.item, ...patch }
    if (entry.item.state.kind !== 'sending') entry.pacer = null
    publish()
  }

  function setState(entry: Entry, state: UploadState): void {
    change(entry, { state, sent: entry.sent })
  }

  function list(
    entry: Omit<Entry, 'item' | 'running' | 'pacer'>,
    item: Omit<UploadItem, 'id' | 'sent'>,
  ): Entry {
    const id = `upload-${++count}`
    const listed = { ...entry, running: null, pacer: null, item: { ...item, id, sent: entry.sent } }
    entries.set(id, listed)
    return listed
  }

  function listKept(upload: KeptUpload, state: UploadState): Entry {
    const { id, name, size, sent, created } = upload
    return list({ keptId: id, sent, round }, { name, size, link: created?.link ?? null, state })
  }

  function run(entry: Entry): void {
    const { keptId } = entry
    if (keptId === null || entry.running !== null) return
    const running = new AbortController()
    entry.running = running
    kept.setPaused(keptId, false)
    timer ??= setInterval(tick, TICK)
    /** What comes late from a run that was ended is not told. */
    const unless = (tell: () => void) => {
      if (!running.signal.aborted) tell()
    }
    transfer(way, keptId, running.signal, {
      stage: (kind) => unless(() => setState(entry, kind === 'sending' ? { kind, pace: NO_PACE } : { kind })),
      waiting: (reason, until) =>
        unless(() =>
          setState(entry, { kind: 'waiting', reason, until: Date.now() + until - performance.now() }),
        ),
      link: (link) => change(entry, { link }),
      sent(bytes) {
        entry.sent = bytes
      },
    })
      .then((end) => {
        if (end === 'done') finish(entry)
      })
      .catch((error: unknown) => unless(() => fail(entry, error)))
      .finally(() => {
        if (entry.running === running) entry.running = null
      })
  }

  function halt(entry: Entry): void {
    entry.running?.abort()
    entry.running = null
    if (entry.keptId !== null) kept.setPaused(entry.keptId, true)
  }

  function finish(entry: Entry): void {
    const { item } = entry
    forget(entry)
    entry.sent = item.size
    setState(entry, { kind: 'done' })
    finished.add(entry.item)
  }

  function fail(entry: Entry, error: unknown): void {
    const problem =
      error instanceof UploadOver ? error.problem : ({ kind: 'refused', code: 'INTERNAL_ERROR' } as const)
    if (['changed', 'too-large', 'guests-off', 'expired'].includes(problem.kind)) giveUp(entry)
    setState(entry, { kind: 'failed', problem })
  }

  /** Nothing has to outlive the page any more. */
  function forget(entry: Entry): void {
    if (entry.keptId === null) return
    kept.remove(entry.keptId)
    void handles.forget(entry.keptId)
    entry.keptId = null
  }

  /** Takes what has arrived off the server too. */
  function giveUp(entry: Entry): void {
    const address = entry.keptId === null ? null : (kept.find(entry.keptId)?.created?.address ?? null)
    forget(entry)
    if (address !== null) void terminate(way, address)
  }

  function startNew({ file, handle, path }: Picked): void {
    const { name, size } = file
    if (size > way.limit) {
      const problem = { kind: 'too-large', limit: way.limit } as const
      list(
        { keptId: null, sent: 0, round: -1 },
        { name, size, link: null, state: { kind: 'failed', problem } },
      )
      return
    }
    const upload = kept.add(file, path)
    // Just this file is on its way already.
    if (upload === null) return
    if (handle !== null) void handles.keep(upload.id, handle)
    run(listKept(upload, { kind: 'starting' }))
  }

  function interruptedLike(file: File): Entry | undefined {
    return [...entries.values()].find(({ item, keptId }) => {
      const upload = keptId === null ? null : kept.find(keptId)
      return item.state.kind === 'interrupted' && upload !== null && isSame(file, upload)
    })
  }

  function giveBack(entry: Entry, file: File): void {
    if (entry.keptId === null) return
    kept.give(entry.keptId, file)
    run(entry)
  }

  /** Finds out how far an upload of an earlier page is, and goes on with it where that is possible. */
  async function pickUp(entry: Entry, upload: KeptUpload): Promise<void> {
    if (upload.file !== null) {
      if (!upload.isPaused) run(entry)
      return
    }
    const handle = await handles.find(upload.id)
    const file =
      handle !== null && (await mayRead(handle, false)) ? await handle.getFile().catch(() => null) : null
    if (file !== null && isSame(file, upload)) {
      kept.give(upload.id, file)
      if (upload.isPaused) setState(entry, { kind: 'paused' })
      else run(entry)
      return
    }
    setState(entry, { kind: 'interrupted', hasHandle: handle !== null, other: null })
    if (upload.created !== null) await look(entry, upload.created.address)
  }

  async function look(entry: Entry, address: string): Promise<void> {
    try {
      const seen = await lookAtUpload(way.to, address)
      if (entry.item.state.kind !== 'interrupted') return
      if (seen.status === 'completed' || seen.status === 'processing') finish(entry)
      else {
        entry.sent = seen.received
        setState(entry, entry.item.state)
      }
    } catch (error) {
      const isGone = error instanceof RequestFailure && judge(error.answer, way.limit).kind === 'anew'
      if (isGone && entry.item.state.kind === 'interrupted') fail(entry, new UploadOver({ kind: 'expired' }))
    }
  }

  /** Those cancelled a moment ago, and what ends that moment. */
  const cancelled = new Map<Entry, ReturnType<typeof setTimeout>>()

  function endCancelled(entry: Entry): void {
    clearTimeout(cancelled.get(entry))
    cancelled.delete(entry)
    giveUp(entry)
    entries.delete(entry.item.id)
    publish()
  }

  addEventListener('pagehide', () => {
    for (const entry of [...cancelled.keys()]) endCancelled(entry)
  })
  const nudge = () => {
    for (const { line } of [way.creating, way.sending]) line.nudge()
  }
  addEventListener('online', nudge)
  document.addEventListener('visibilitychange', () => {
    if (document.visibilityState === 'visible') nudge()
  })

  function on(id: string, act: (entry: Entry) => void): void {
    const entry = entries.get(id)
    if (entry !== undefined) act(entry)
  }

  function pause(entry: Entry): void {
    if (!isActive(entry.item)) return
    halt(entry)
    setState(entry, { kind: 'paused' })
  }

  function resume(entry: Entry): void {
    const { kind } = entry.item.state
    if (kind !== 'paused' && kind !== 'failed' && kind !== 'cancelled') return
    clearTimeout(cancelled.get(entry))
    cancelled.delete(entry)
    run(entry)
  }

  return {
    snapshot: () => snapshot,

    subscribe(changed) {
      listeners.add(changed)
      return () => listeners.delete(changed)
    },

    add(picked) {
      if (!snapshot.total.isActive) round += 1
      for (const each of picked) {
        const interrupted = interruptedLike(each.file)
        if (interrupted === undefined) startNew(each)
        else giveBack(interrupted, each.file)
      }
      publish()
    },

    pause: (id) => on(id, pause),
    resume: (id) => on(id, resume),

    pauseAll() {
      for (const entry of entries.values()) pause(entry)
    },

    resumeAll() {
      for (const entry of entries.values()) if (entry.item.state.kind === 'paused') resume(entry)
    },

    cancel: (id) =>
      on(id, (entry) => {
        if (entry.keptId === null) return
        halt(entry)
        setState(entry, { kind: 'cancelled' })
        cancelled.set(entry, setTimeout(endCancelled, SECOND_THOUGHTS, entry))
      }),

    remove: (id) =>
      on(id, (entry) => {
        if (isActive(entry.item)) return
        if (entry.item.state.kind === 'done') finished.remove(entry.item)
        giveUp(entry)
        entries.delete(id)
        publish()
      }),

    async reopen(id) {
      const entry = entries.get(id)
      const upload = entry?.keptId == null ? null : kept.find(entry.keptId)
      if (entry === undefined || upload === null) return
      const handle = await handles.find(upload.id)
      if (handle === null || !(await mayRead(handle, true))) return
      const file = await handle.getFile().catch(() => null)
      if (file !== null && isSame(file, upload)) giveBack(entry, file)
      else setState(entry, { kind: 'interrupted', hasHandle: false, other: null })
    },

    giveFile: (id, file) =>
      on(id, (entry) => {
        const upload = entry.keptId === null ? null : kept.find(entry.keptId)
        if (upload === null || entry.item.state.kind !== 'interrupted') return
        if (isSame(file, upload)) giveBack(entry, file)
        else {
          const isNewer = file.name === upload.name && file.size === upload.size
          const other = { name: file.name, size: file.size, isNewer }
          setState(entry, { ...entry.item.state, other })
        }
      }),

    async restore() {
      for (const item of finished.list()) {
        list({ keptId: null, sent: item.size, round: -1 }, { ...item, state: { kind: 'done' } })
      }
      const links = new Set(finished.list().map(({ link }) => link))
      // The end of an upload may have come too late to be noted where unfinished ones are.
      for (const { id, created } of kept.list()) if (links.has(created?.link ?? null)) kept.remove(id)
      const found = kept.list().map((upload) => ({
        upload,
        entry: listKept(upload, upload.file === null ? interrupted : { kind: 'paused' }),
      }))
      publish()
      await Promise.all(found.map(({ entry, upload }) => pickUp(entry, upload)))
    },
  }
}

const interrupted: UploadState = { kind: 'interrupted', hasHandle: false, other: null }

/** Whether it is the very file, as far as a browser tells. */
function isSame(file: File, upload: KeptUpload): boolean {
  return file.name === upload.name && file.size === upload.size && file.lastModified === upload.lastModified
}

/** Whether it is part of what the person waits for. */
function counts({ state }: UploadItem): boolean {
  return state.kind !== 'failed' && state.kind !== 'cancelled' && state.kind !== 'interrupted'
}

/** An hour at most: what is left then the server clears away by itself. */
async function terminate({ to }: Way, address: string): Promise<void> {
  for (let pause = 1000; pause < 60 * 60 * 1000; pause *= 2) {
    try {
      return await terminateUpload(to, address)
    } catch (error) {
      const { answer } = error instanceof RequestFailure ? error : { answer: null }
      if (answer !== null && answer.status < 500 && answer.status !== 423) return
      await new Promise((resolve) => setTimeout(resolve, pause))
    }
  }
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((all, each) => all + each, 0)
}

function storage(): Storage | null {
  try {
    return localStorage
  } catch {
    return null
  }
}
