import { createPacer, type Pacer } from './pace.ts'
import {
  isActive,
  NO_PACE,
  type Total,
  type UploadItem,
  type UploadPhase,
  type Uploads,
} from './upload-item.ts'

export interface BoardEntry {
  readonly item: UploadItem
  /** Null once nothing has to outlive the page. */
  keptId: string | null
  running: AbortController | null
  /** Bytes; `item` follows a moment later. */
  sent: number
}

/** Milliseconds between two progress checks. */
const TICK = 250
/** Milliseconds between two renderings: with many small files there are hundreds of changes a second. */
const SHOWN_EVERY = 100
/** Bytes possibly in flight when a connection ends: re-sending fewer is not shown. */
const ON_THE_WAY = 1024 * 1024
/** Milliseconds after which the page says that the server has not answered. */
const SLOW = 5000

interface Listed extends BoardEntry {
  item: UploadItem
  pacer: Pacer | null
  reached: number
  /** Bytes up to `reached` are being sent again. */
  isAgain: boolean
  /** Start of the state, by `performance.now()`. */
  since: number
  readonly round: number | null
}

export class Board {
  readonly #entries = new Map<string, Listed>()
  readonly #listeners = new Set<() => void>()
  #count = 0
  #round = 0
  #pacer: Pacer | null = null
  /** Bytes sent for files of a round, without those that the server had before. */
  #gone = 0
  #timer: ReturnType<typeof setInterval> | null = null
  #isPublishing = false
  #publishedAt = Number.NEGATIVE_INFINITY
  #snapshot: Uploads

  constructor() {
    this.#snapshot = { items: [], total: this.#total() }
  }

  /** A new object only after a change. */
  snapshot(): Uploads {
    return this.#snapshot
  }

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

  /** `isCounted`: belongs to the round. `id`: of a row that is shown already. */
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

  setReceipt(entry: BoardEntry, receipt: string): void {
    this.#change(entry, { receipt })
  }

  remove(entry: BoardEntry): void {
    this.#entries.delete(entry.item.id)
    this.#publish()
  }

  /** The user's own actions show at once. */
  showNow(): void {
    this.#isPublishing = true
    queueMicrotask(() => this.#tell())
  }

  startRound(): void {
    if (![...this.#entries.values()].some(({ item }) => isActive(item))) this.#round += 1
  }

  #change(entry: BoardEntry, patch: Partial<Pick<UploadItem, 'link' | 'state' | 'receipt'>>): void {
    const listed = this.#entries.get(entry.item.id)
    if (listed === undefined) return
    this.#countGone(listed)
    listed.item = { ...listed.item, ...patch, sent: listed.sent }
    listed.since = performance.now()
    if (listed.item.state.kind !== 'sending') listed.pacer = null
    this.#publish()
  }

  /** Renders the first change at once, and those soon after it together. */
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

  /** Before `item` follows: a total of the same bytes as the rows has their speed. */
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

function counts({ state }: UploadItem): boolean {
  return !['failed', 'cancelled', 'interrupted', 'deleted'].includes(state.kind)
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((all, each) => all + each, 0)
}
