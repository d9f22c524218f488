import type { Key } from './entry.ts'
import type { FolderTree } from './folders/folder-tree.ts'
import type { Query } from './list/listing.ts'
import type { ListProblem } from './problem.ts'
import type { Selection } from './selection/selection.ts'

export interface ManagerView {
  readonly query: Query
  readonly tree: FolderTree | null
  readonly selection: Selection
  /** Changes with the listing. */
  readonly version: number
  readonly busy: ReadonlySet<Key>
  readonly problem: ListProblem | null
  /** A new object for each scroll. */
  readonly revealed: { readonly row: number } | null
}

export interface Picking {
  readonly ctrl: boolean
  readonly shift: boolean
  /** Moves the focus without selecting. */
  readonly isFocusAlone?: boolean
}
