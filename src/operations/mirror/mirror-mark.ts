/**
 * The mark of a mirror: the pair of database and store that it belongs to, a series, and a number that grows with each
 * copy and removal. Authenticated by a key in the database: write access to the mirror does not suffice to forge it.
 */
import * as z from 'zod/mini'
import type { BlobStore, MarkCopy } from '../../blobs/blob-store.ts'
import { COPIES, type CopyFault, isAuthentic, macOf, readCopyText, withSum } from '../mark-copies.ts'
import { parsedJson } from '../parsed-json.ts'

const FORMAT = 1
const USE = `holdfast mirror mark/${FORMAT}`

const body = z.object({ pair: z.string(), series: z.string(), number: z.int() })
export type MirrorMark = z.infer<typeof body>

const envelope = z.object({ body: z.string(), mac: z.string() })

export async function writeMirrorMark(
  store: Pick<BlobStore, 'writeMark'>,
  mark: MirrorMark,
  key: string,
): Promise<void> {
  const text = JSON.stringify(mark)
  const sealed = withSum('mirror', FORMAT, JSON.stringify({ body: text, mac: macOf(text, key, USE) }))
  for (const copy of COPIES) await store.writeMark(sealed, copy)
}

export interface FoundMark {
  /** The higher number. */
  readonly mark: MirrorMark | null
  /** Authentic or not. */
  readonly isMirrors: boolean
  /** Intact, but written without the key. */
  readonly isForged: boolean
  readonly faults: readonly CopyFault[]
  readonly isTwice: boolean
}

/** Throws StoreFailure. */
export async function readMirrorMark(
  store: Pick<BlobStore, 'readMark'>,
  key: string,
): Promise<FoundMark | null> {
  const copies = await Promise.all(COPIES.map((copy) => readCopy(store, copy, key)))
  if (copies.every(({ kind }) => kind === 'missing')) return null
  const marks = copies.flatMap((copy) => ('mark' in copy ? [copy.mark] : []))
  const [first, second] = marks
  return {
    mark: marks.toSorted((one, other) => other.number - one.number)[0] ?? null,
    isMirrors: copies.some(({ kind }) => kind !== 'missing' && kind !== 'other'),
    isForged: copies.some(({ kind }) => kind === 'forged' || kind === 'other'),
    faults: copies.flatMap((copy) => ('reason' in copy ? [{ copy: copy.copy, reason: copy.reason }] : [])),
    isTwice: second !== undefined && JSON.stringify(first) === JSON.stringify(second),
  }
}

type ReadCopy = { readonly copy: MarkCopy } & (
  | { readonly kind: 'sound'; readonly mark: MirrorMark }
  | { readonly kind: 'missing' | 'damaged' | 'forged' | 'other'; readonly reason: string }
)

async function readCopy(store: Pick<BlobStore, 'readMark'>, copy: MarkCopy, key: string): Promise<ReadCopy> {
  const read = await readCopyText(store, copy, 'mirror')
  if (read.kind === 'missing') return { copy, kind: 'missing', reason: 'is missing' }
  if (read.kind === 'other') {
    const reason = 'is no mark of a mirror, or its beginning is damaged'
    return { copy, kind: read.text.startsWith('holdfast-mirror ') ? 'damaged' : 'other', reason }
  }
  if (read.kind === 'damaged') return { copy, ...read }
  const outer = envelope.safeParse(parsedJson(read.json))
  if (!outer.success || !isAuthentic(outer.data.body, outer.data.mac, key, USE)) {
    return { copy, kind: 'forged', reason: 'was not written by this installation' }
  }
  const inner = body.safeParse(parsedJson(outer.data.body))
  if (!inner.success) return { copy, kind: 'damaged', reason: 'is not a whole mark' }
  return { copy, kind: 'sound', mark: inner.data }
}
