import {
  afterBegin,
  afterRefusal,
  type ChunkState,
  FIRST_CHUNK,
  isStuck,
  NOT_STUCK,
  SMALLEST_CHUNK,
  type StuckState,
} from '../../src/client/policy/upload-policy.ts'
import { DAY } from '../../src/domain/clock.ts'

/** Afterwards the connection or the proxy may allow more. */
const KEPT = DAY
const KEY = 'holdfast-chunk'

/**
 * Never exceeds the first size: a refusal costs the user a whole body. Smaller sizes are stored per server.
 */
export class KeptChunkSize {
  readonly #storage: Storage | null
  readonly #now: () => number
  #state: ChunkState

  constructor(storage: Storage | null, now: () => number) {
    this.#storage = storage
    this.#now = now
    const bytes = kept(storage, now()) ?? FIRST_CHUNK
    this.#state = { bytes, largest: bytes }
  }

  current(): number {
    return this.#state.bytes
  }

  /** False when smaller ones are no use. */
  refused(bytes: number): boolean {
    const smaller = afterRefusal(this.#state, bytes)
    if (smaller === null) return false
    if (smaller !== this.#state) {
      this.#state = smaller
      keep(this.#storage, { bytes: smaller.bytes, until: this.#now() + KEPT })
    }
    return true
  }
}

/** Halves the size when requests from one offset repeatedly failed. `left`: bytes from there on. */
export function lessIfStuck(
  before: StuckState,
  offset: number,
  left: number,
  chunks: KeptChunkSize,
): StuckState {
  const stuckState = afterBegin(before, offset)
  if (!isStuck(stuckState)) return stuckState
  chunks.refused(Math.min(chunks.current(), left))
  return NOT_STUCK
}

function kept(storage: Storage | null, now: number): number | null {
  try {
    const parsed: unknown = JSON.parse(storage?.getItem(KEY) ?? 'null')
    if (typeof parsed !== 'object' || parsed === null || !('bytes' in parsed) || !('until' in parsed))
      return null
    const { bytes, until } = parsed
    if (typeof bytes !== 'number' || typeof until !== 'number' || until < now) return null
    return Math.min(FIRST_CHUNK, Math.max(SMALLEST_CHUNK, bytes))
  } catch {
    return null
  }
}

function keep(storage: Storage | null, value: { readonly bytes: number; readonly until: number }): void {
  try {
    storage?.setItem(KEY, JSON.stringify(value))
  } catch {
    // Storage failed: the size is learned again.
  }
}
