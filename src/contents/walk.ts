/** One walk through stored contents: checks, scrubs, copies and repairs differ in what they do with each content. */
import { StoreFailure } from '../blobs/blob-store.ts'
import { outageRefusal } from '../core/failures.ts'
import { WrongStore } from '../core/store/pairing.ts'

export interface Walk<Content extends { readonly size: number }> {
  readonly contents: Iterable<Content> | AsyncIterable<Content>
  /** Contents under way at once; 1 unless given. */
  readonly width?: number
  /** Bytes under way at once. One content counts for at most half, so that two large ones run together. */
  readonly bytes?: number
  readonly signal?: AbortSignal
  /** `stop` aborts with the walk's signal and after the failure of another content. May throw WalkLeft. */
  readonly visit: (content: Content, stop: AbortSignal) => Promise<void>
  /** Keeps the place for the next walk. Called after each start of a visit, and at last with `isOver`, also after a failure. */
  readonly record?: (isOver: boolean) => Promise<void>
}

/** The walk ends here and is no failure: shutdown, a lost lease, a busy disk. */
export class WalkLeft extends Error {
  override readonly name = 'WalkLeft'
}

/** Visits all contents; false after a WalkLeft. Throws the first failure of a visit, and the signal's reason. */
export async function walk<Content extends { readonly size: number }>({
  contents,
  width = 1,
  bytes = Number.POSITIVE_INFINITY,
  signal,
  visit,
  record,
}: Walk<Content>): Promise<boolean> {
  const failures: unknown[] = []
  const stop = new AbortController()
  const either = signal === undefined ? stop.signal : AbortSignal.any([signal, stop.signal])
  const working = new Set<Promise<void>>()
  let underWay = 0
  try {
    for await (const content of contents) {
      const weight = Math.min(content.size, bytes / 2)
      while (working.size >= width || (working.size > 0 && underWay + weight > bytes)) {
        await Promise.race(working)
      }
      if (failures.length > 0) throw failures[0]
      signal?.throwIfAborted()
      underWay += weight
      const turn = visit(content, either)
        .catch((error: unknown) => void failures.push(error))
        .finally(() => {
          working.delete(turn)
          underWay -= weight
        })
      working.add(turn)
      await record?.(false)
    }
    await Promise.all(working)
    if (failures.length > 0) throw failures[0]
  } catch (error) {
    stop.abort()
    await Promise.all(working)
    if (error instanceof WalkLeft) {
      await record?.(true)
      return false
    }
    // The next walk visits unrecorded contents again.
    await record?.(true).catch(() => {})
    throw error
  }
  await record?.(true)
  return true
}

/** Rows in batches, each by one short statement; `read` gets the last row before. */
export async function* inBatches<Row>(
  read: (last: Row | null) => Promise<readonly Row[]>,
): AsyncGenerator<readonly Row[]> {
  let last: Row | null = null
  for (;;) {
    const batch: readonly Row[] = await read(last)
    const end = batch.at(-1)
    if (end === undefined) return
    last = end
    yield batch
  }
}

export async function* eachOf<Row>(batches: AsyncIterable<readonly Row[]>): AsyncGenerator<Row> {
  for await (const batch of batches) yield* batch
}

/** What a store lists, so many at once. */
export async function* grouped<Item>(
  items: AsyncIterable<Item> | Iterable<Item>,
  size: number,
): AsyncGenerator<Item[]> {
  let group: Item[] = []
  for await (const item of items) {
    group.push(item)
    if (group.length < size) continue
    yield group
    group = []
  }
  if (group.length > 0) yield group
}

/** Whether every content is affected. An unreadable sector affects one alone. */
export function isOutage(error: unknown): boolean {
  if (error instanceof StoreFailure) return error.reason !== 'broken'
  return error instanceof WrongStore || outageRefusal(error) !== null
}

const MOST_FAILURES = 10

/** Whether a walk goes on after this failure: of one content, and of few before it. */
export function tolerance(): (error: unknown, stop: AbortSignal) => boolean {
  let failures = 0
  return (error, stop) => !stop.aborted && !isOutage(error) && failures++ < MOST_FAILURES
}

export interface Amount {
  readonly count: number
  readonly bytes: number
}

/** Gets the progress of a command. `wasThere`: copied by an earlier run. */
export interface Watch<Step extends string> {
  begin(step: Step, total: Amount): void
  advance(done: Amount & { readonly wasThere: boolean }): void
}
