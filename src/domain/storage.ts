import { type IconKind, iconKindOf } from './icon-kind.ts'

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

export function storageKindOf(type: string): StorageKind {
  return kinds[iconKindOf(type, '')]
}

/** Percent at which the account is notified. */
export const NEARLY_FULL = 90

/** Percent below which it is notified anew. */
export const ROOM_AGAIN = 85

/** Bytes. An empty account is never nearly full. */
export function isNearlyFull(used: number, limit: number): boolean {
  return used > 0 && used * 100 >= limit * NEARLY_FULL
}
