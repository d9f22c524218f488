import type { BlobStore } from '../blobs/blob-store.ts'

/** What a store carries: the mark that ties it to its database, and how often that database has been started on it. */
export interface StoreMark {
  readonly mark: string
  readonly generation: number
}

/** Null for a store that never got one. One without a generation is of a store on which nobody has counted yet. */
export async function readStoreMark(blobs: BlobStore): Promise<StoreMark | null> {
  const text = await blobs.readMark()
  if (text === null) return null
  const [mark = '', generation = '0'] = text.trim().split(' ')
  return { mark, generation: Number(generation) || 0 }
}

export function writeStoreMark(blobs: BlobStore, { mark, generation }: StoreMark): Promise<void> {
  return blobs.writeMark(generation === 0 ? mark : `${mark} ${generation}`)
}
