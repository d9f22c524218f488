/** `bin`: an entry was binned, restored or deleted from the bin. */
export const changeKinds = [
  'file.added',
  'file.changed',
  'file.moved',
  'file.removed',
  'folder.added',
  'folder.changed',
  'folder.moved',
  'folder.removed',
  'bin',
] as const

export type ChangeKind = (typeof changeKinds)[number]

/** `link`: an event of a link or of the account. */
export type StoredChangeKind = ChangeKind | 'link'
