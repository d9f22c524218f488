import { storageKindOf } from './storage.ts'

export type SentKind = 'photo' | 'picture' | 'video' | 'audio' | 'document' | 'file'

export interface SentFiles {
  readonly kind: SentKind
  readonly count: number
}

export interface SentContent {
  readonly files: number
  readonly bytes: number
  readonly kinds: readonly SentFiles[]
}

/** What cameras and phones make. */
const PHOTO = /^image\/(?:jpeg|jpg|hei[cf]|tiff|x-)/
const MOST_KINDS = 2
const ORDER = ['photo', 'picture', 'video', 'audio', 'document'] as const

/** As a person would count them: `3 photos and 2 videos`; of more than two kinds, or of others, `12 files`. */
export function sentFiles(types: Iterable<readonly [type: string, count: number]>): readonly SentFiles[] {
  const counts = new Map<SentKind, number>()
  let total = 0
  for (const [type, count] of types) {
    const kind = kindOf(type)
    total += count
    counts.set(kind, (counts.get(kind) ?? 0) + count)
  }
  if (total === 0) return []
  const photos = counts.get('photo') ?? 0
  if (counts.has('picture') && photos > 0) {
    counts.set('picture', (counts.get('picture') ?? 0) + photos)
    counts.delete('photo')
  }
  if (counts.has('file') || counts.size > MOST_KINDS) return [{ kind: 'file', count: total }]
  return ORDER.flatMap((kind) => {
    const count = counts.get(kind)
    return count === undefined ? [] : [{ kind, count }]
  })
}

function kindOf(type: string): SentKind {
  const kind = storageKindOf(type)
  switch (kind) {
    case 'image':
      return PHOTO.test(type) ? 'photo' : 'picture'
    case 'video':
    case 'audio':
    case 'document':
      return kind
    case 'archive':
    case 'other':
      return 'file'
  }
}
