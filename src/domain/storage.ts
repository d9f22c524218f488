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

/** Percent of its storage from which on an account is told that it is nearly full. */
export const NEARLY_FULL = 90

/** Percent below which there is room again: what is told after that is told anew. */
export const ROOM_AGAIN = 85

/** `used`, `limit`: bytes. Nothing that is empty is nearly full, whatever its limit. */
export function isNearlyFull(used: number, limit: number): boolean {
  return used > 0 && used * 100 >= limit * NEARLY_FULL
}
