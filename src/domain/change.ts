/**
 * Kinds of events for those who watch an account. `bin`: something was binned, restored or deleted from the
 * bin.
 */
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

/** `link`: an event of a link, or of the account itself. */
export type StoredChangeKind = ChangeKind | 'link'
