import type { BlobStore } from '../../blobs/blob-store.ts'

export type Marked = Pick<BlobStore, 'readMark' | 'writeMark'>

export interface StoreMark {
  readonly mark: string
  readonly generation: number
}

/** Null for a store without a mark. A mark without a generation was written before the first start was counted. */
export async function readStoreMark(blobs: Pick<Marked, 'readMark'>): Promise<StoreMark | null> {
  const text = await blobs.readMark()
  if (text === null) return null
  const [mark = '', generation = '0'] = text.trim().split(' ')
  return { mark, generation: Number(generation) || 0 }
}

export function writeStoreMark(blobs: Marked, { mark, generation }: StoreMark): Promise<void> {
  return blobs.writeMark(generation === 0 ? mark : `${mark} ${generation}`)
}
