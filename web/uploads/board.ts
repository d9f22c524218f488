import { createPacer, type Pacer } from './pace.ts'
import {
  isActive,
  NO_PACE,
  type Total,
  type UploadItem,
  type UploadPhase,
  type Uploads,
} from './upload-item.ts'

/** What the page knows of an upload besides what it shows. */
export interface BoardEntry {
  readonly item: UploadItem
  /** Null once nothing has to outlive the page. */
  keptId: string | null
  /** While it works towards its end. */
  running: AbortController | null
  /** Bytes; `item` follows a moment later. */
  sent: number
}

/** Milliseconds between two looks at how far things are. */
const TICK = 250
/** Milliseconds between two times at which changes are shown: with many small files there are hundreds a second. */
const SHOWN_EVERY = 100
/** Bytes that may be on their way when a connection ends: that fewer are sent again is not worth a word. */
const ON_THE_WAY = 1024 * 1024
/** Milliseconds after which it is said that the server has not answered yet. */
const SLOW = 5000

interface Listed extends BoardEntry {
  item: UploadItem
  pacer: Pacer | null
  /** The most bytes that have gone off. */
  reached: number
  /** Whether bytes up to `reached` are being sent again. */
  isAgain: boolean
  /** Since when it is in its state, as of `performance.now()`. */
  since: number
  /** Files of one round are counted together; null for those that are not. */
  readonly round: number | null
}

/** All uploads of the page, and what is shown of them. */
export class Board {
  readonly #entries = new Map<string, Listed>()
  readonly #listeners = new Set<() => void>()
  #count = 0
  #round = 0
  /** Of all files of the round together, while one of them is being sent. */
  #pacer: Pacer | null = null
  /** Bytes that have gone off for files of a round: of one that goes on, none of those that the server had. */
  #gone = 0
  #timer: ReturnType<typeof setInterval> | null = null
  #isPublishing = false
  /** As of `performance.now()`. */
  #publishedAt = Number.NEGATIVE_INFINITY
  #snapshot: Uploads

  constructor() {
    this.#snapshot = { items: [], total: this.#total() }
  }

  /** The same object as long as nothing has changed. */
  snapshot(): Uploads {
    return this.#snapshot
  }

  /** Returns what ends it. */
  subscribe(changed: () => void): () => void {
    this.#listeners.add(changed)
    return () => this.#listeners.delete(changed)
  }

  all(): readonly BoardEntry[] {
    return [...this.#entries.values()]
  }

  find(id: string): BoardEntry | null {
    return this.#entries.get(id) ?? null
  }

  /** `isCounted`: whether it is part of what is waited for now. `id`: where it was shown already. */
  add(
    shown: Omit<UploadItem, 'id'>,
    keptId: string | null,
    isCounted: boolean,
    id = `upload-${++this.#count}`,
  ): BoardEntry {
    const item = { ...shown, id }
    const entry: Listed = {
      ...{ item, keptId, running: null, sent: item.sent, pacer: null },
      ...{ reached: item.sent, isAgain: false },
      since: performance.now(),
      round: isCounted ? this.#round : null,
    }
    this.#entries.set(item.id, entry)
    this.#publish()
    return entry
  }

  setState(entry: BoardEntry, state: UploadPhase): void {
    this.#change(entry, { state })
  }

  setLink(entry: BoardEntry, link: string): void {
    this.#change(entry, { link })
  }

  remove(entry: BoardEntry): void {
    this.#entries.delete(entry.item.id)
    this.#publish()
  }

  /** What a person does is seen at once, whatever else changes. */
  showNow(): void {
    this.#isPublishing = true
    queueMicrotask(() => this.#tell())
  }

  /** What is added from now on is counted by itself, if nothing else is under way. */
  startRound(): void {
    if (![...this.#entries.values()].some(({ item }) => isActive(item))) this.#round += 1
  }

  #change(entry: BoardEntry, patch: Partial<Pick<UploadItem, 'link' | 'state'>>): void {
    const listed = this.#entries.get(entry.item.id)
    if (listed === undefined) return
    this.#countGone(listed)
    listed.item = { ...listed.item, ...patch, sent: listed.sent }
    listed.since = performance.now()
    if (listed.item.state.kind !== 'sending') listed.pacer = null
    this.#publish()
  }

  /** The first change is told at once, those that follow soon after it together. */
  #publish(): void {
    if (this.#isPublishing) return
    this.#isPublishing = true
    const rest = this.#publishedAt + SHOWN_EVERY - performance.now()
    if (rest > 0) setTimeout(() => this.#tell(), rest)
    else queueMicrotask(() => this.#tell())
  }

  #tell(): void {
    if (this.#isPublishing) this.#publishNow()
  }

  #publishNow(): void {
    this.#isPublishing = false
    this.#publishedAt = performance.now()
    this.#snapshot = { items: [...this.#entries.values()].map(({ item }) => item), total: this.#total() }
    if (this.#snapshot.total.isActive) this.#timer ??= setInterval(() => this.#tick(), TICK)
    for (const changed of this.#listeners) changed()
  }

  #tick(): void {
    for (const entry of this.#entries.values()) {
      this.#countGone(entry)
      measure(entry)
    }
    this.#publishNow()
    if (this.#snapshot.total.isActive || this.#timer === null) return
    clearInterval(this.#timer)
    this.#timer = null
  }

  /** Before `item` follows. A total of the same bytes as the rows have comes to the same speed as they do. */
  #countGone({ item, sent, round }: Listed): void {
    if (round !== this.#round || item.state.kind !== 'sending') return
    this.#gone += Math.max(0, sent - item.sent)
  }

  #total(): Total {
    const all = [...this.#entries.values()]
    const items = all
      .filter(({ round, item }) => round === this.#round && counts(item))
      .map(({ item }) => item)
    const size = sum(items.map((item) => item.size))
    const sent = sum(items.map((item) => item.sent))
    if (!items.some(({ state }) => state.kind === 'sending')) this.#pacer = null
    else this.#pacer ??= createPacer(this.#gone, performance.now())
    const pace = this.#pacer?.tick(this.#gone, size - sent, performance.now()) ?? NO_PACE
    return { size, sent, pace, isActive: all.some(({ item }) => isActive(item)) }
  }
}

function measure(entry: Listed): void {
  const { item, sent } = entry
  if (item.state.kind === 'starting' && performance.now() - entry.since > SLOW) {
    entry.item = { ...item, state: { kind: 'starting', isSlow: true } }
  }
  if (item.state.kind !== 'sending') return
  entry.pacer ??= createPacer(sent, performance.now())
  const pace = entry.pacer.tick(sent, item.size - sent, performance.now())
  entry.reached = Math.max(entry.reached, sent)
  entry.isAgain = entry.reached - sent > (entry.isAgain ? 0 : ON_THE_WAY)
  const state = { kind: 'sending', pace, ...(entry.isAgain ? { isAgain: true as const } : {}) } as const
  entry.item = { ...item, sent, state }
}

/** Whether it is part of what the person waits for. */
function counts({ state }: UploadItem): boolean {
  return !['failed', 'cancelled', 'interrupted', 'deleted'].includes(state.kind)
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((all, each) => all + each, 0)
}
