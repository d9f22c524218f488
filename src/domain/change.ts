/** What those who watch an account are told of. `bin`: something went into the bin, came back or was deleted there. */
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
