import type { MenuAnchor } from '../../shared/menus/menu-place.ts'

/** A line of the grid: one entry, or as many tiles as there is room for. */
export interface LineProps {
  /** Counted from 0. */
  readonly line: number
  readonly columns: number
  readonly total: number
  /** Where it is. */
  readonly place: { readonly transform: string; readonly height: number }
  readonly openMenu: (row: number, at: MenuAnchor) => void
}
