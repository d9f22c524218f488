import { type IconKind, iconKindOf } from './icon-kind.ts'

/** Coarse categories of stored files for charts. */
export const STORAGE_KINDS = ['image', 'video', 'audio', 'document', 'archive', 'other'] as const

export type StorageKind = (typeof STORAGE_KINDS)[number]

const kinds: Readonly<Record<IconKind, StorageKind>> = {
  image: 'image',
  video: 'video',
  audio: 'audio',
  pdf: 'document',
  text: 'document',
  code: 'document',
  spreadsheet: 'document',
  presentation: 'document',
  document: 'document',
  archive: 'archive',
  application: 'other',
  font: 'other',
  other: 'other',
}

/** Category by media type only. */
export function storageKindOf(type: string): StorageKind {
  return kinds[iconKindOf(type, '')]
}
