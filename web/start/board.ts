import { createPacer, type Pacer } from './pace.ts'
import {
  isActive,
  NO_PACE,
  type Total,
  type UploadItem,
  type UploadState,
  type Uploads,
} from './upload-item.ts'

/** What the page knows of an upload besides what it shows. */
export interface Entry {
  readonly item: UploadItem
  /** Null once nothing has to outlive the page. */
  keptId: string | null
  /** While it works towards its end. */
  running: AbortController | null
  /** Bytes; `item` follows a moment later. */
  sent: number
}

/** All uploads of the page, and what is shown of them. */
export interface Board {
  /** The same object as long as nothing has changed. */
  snapshot(): Uploads
  /** Returns what ends it. */
  subscribe(changed: () => void): () => void
  all(): readonly Entry[]
  find(id: string): Entry | null
  /** `isCounted`: whether it is part of what is waited for now. */
  add(shown: Omit<UploadItem, 'id'>, keptId: string | null, isCounted: boolean): Entry
  setState(entry: Entry, state: UploadState): void
  setLink(entry: Entry, link: string): void
  remove(entry: Entry): void
  /** What is added from now on is counted by itself, if nothing else is under way. */
  startRound(): void
}

/** Milliseconds between two looks at how far things are. */
const TICK = 250
/** Milliseconds after which it is said that the server has not answered yet. */
const SLOW = 5000

interface Listed extends Entry {
  item: UploadItem
  pacer: Pacer | null
  /** Since when it is in its state, as of `performance.now()`. */
  since: number
  /** Files of one round are counted together; null for those that are not. */
  readonly round: number | null
}

export function createBoard(): Board {
  const entries = new Map<string, Listed>()
  const listeners = new Set<() => void>()
  let count = 0
  let round = 0
  let pacer: Pacer | null = null
  let timer: ReturnType<typeof setInterval> | null = null
  let isPublishing = false
  let snapshot: Uploads = { items: [], total: total() }

  /** Many changes at once are told once. */
  function publish(): void {
    if (isPublishing) return
    isPublishing = true
    queueMicrotask(publishNow)
  }

  function publishNow(): void {
    isPublishing = false
    snapshot = { items: [...entries.values()].map(({ item }) => item), total: total() }
    if (snapshot.total.isActive) timer ??= setInterval(tick, TICK)
    for (const changed of listeners) changed()
  }

  function tick(): void {
    for (const entry of entries.values()) measure(entry)
    publishNow()
    if (snapshot.total.isActive || timer === null) return
    clearInterval(timer)
    timer = null
  }

  function measure(entry: Listed): void {
    const { item, sent } = entry
    if (item.state.kind === 'starting' && performance.now() - entry.since > SLOW) {
      entry.item = { ...item, state: { kind: 'starting', isSlow: true } }
    }
    if (item.state.kind !== 'sending') return
    entry.pacer ??= createPacer(sent, performance.now())
    const pace = entry.pacer.tick(sent, item.size, performance.now())
    entry.item = { ...item, sent, state: { kind: 'sending', pace } }
  }

  function total(): Total {
    const all = [...entries.values()]
    const items = all.filter((entry) => entry.round === round && counts(entry.item)).map(({ item }) => item)
    const size = sum(items.map((item) => item.size))
    const sent = sum(items.map((item) => item.sent))
    if (items.some(({ state }) => state.kind === 'sending')) pacer ??= createPacer(sent, performance.now())
    else pacer = null
    const pace = pacer?.tick(sent, size, performance.now()) ?? NO_PACE
    return { size, sent, pace, isActive: all.some(({ item }) => isActive(item)) }
  }

  function change(entry: Entry, patch: Partial<Pick<UploadItem, 'link' | 'state'>>): void {
    const listed = entries.get(entry.item.id)
    if (listed === undefined) return
    listed.item = { ...listed.item, ...patch, sent: listed.sent }
    listed.since = performance.now()
    if (listed.item.state.kind !== 'sending') listed.pacer = null
    publish()
  }

  return {
    snapshot: () => snapshot,
    subscribe(changed) {
      listeners.add(changed)
      return () => listeners.delete(changed)
    },
    all: () => [...entries.values()],
    find: (id) => entries.get(id) ?? null,
    add(shown, keptId, isCounted) {
      const item = { ...shown, id: `upload-${++count}` }
      const { sent } = item
      const since = performance.now()
      const entry = { item, keptId, running: null, sent, pacer: null, since, round: isCounted ? round : null }
      entries.set(item.id, entry)
      publish()
      return entry
    },
    setState: (entry, state) => change(entry, { state }),
    setLink: (entry, link) => change(entry, { link }),
    remove(entry) {
      entries.delete(entry.item.id)
      publish()
    },
    startRound() {
      if (![...entries.values()].some(({ item }) => isActive(item))) round += 1
    },
  }
}

/** Whether it is part of what the person waits for. */
function counts({ state }: UploadItem): boolean {
  return !['failed', 'cancelled', 'interrupted', 'deleted'].includes(state.kind)
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((all, each) => all + each, 0)
}
