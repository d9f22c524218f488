import type { Key } from './entry.ts'
import type { FolderTree } from './folders/folder-tree.ts'
import type { Query } from './list/listing.ts'
import type { ListProblem } from './problem.ts'
import type { Selection } from './selection/selection.ts'

/** What the page shows, and nothing of how. */
export interface ManagerView {
  readonly query: Query
  /** null before the first answer. */
  readonly tree: FolderTree | null
  readonly selection: Selection
  /** Changes with what is listed. */
  readonly version: number
  /** Entries that something is being done with. */
  readonly busy: ReadonlySet<Key>
  readonly problem: ListProblem | null
  /** A row to be scrolled to, each time that it is another object; null before the first. */
  readonly revealed: { readonly row: number } | null
}

export interface Picking {
  readonly ctrl: boolean
  readonly shift: boolean
  /** The focus goes there, and nothing is selected by it. */
  readonly isFocusAlone?: boolean
}
