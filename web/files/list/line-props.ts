import type { MenuAnchor } from '../../shared/menus/menu-place.ts'

export interface LineProps {
  /** From 0. */
  readonly line: number
  readonly columns: number
  readonly total: number
  readonly place: { readonly transform: string; readonly height: number }
  readonly openMenu: (row: number, at: MenuAnchor) => void
}
