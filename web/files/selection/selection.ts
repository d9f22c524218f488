import type { Entry, Key } from '../entry.ts'

/** What is selected. All of a list is told without naming it, because most of it may not be here. */
export type Selected =
  | { readonly kind: 'these'; readonly entries: ReadonlyMap<Key, Entry> }
  | { readonly kind: 'all'; readonly except: ReadonlySet<Key> }

/** Where the person is in a list, and what is selected there. */
export interface Selection {
  /** The row that has the focus. */
  readonly focus: number
  /** The row from which shift extends. */
  readonly anchor: number
  readonly selected: Selected
}

const NONE: Selected = { kind: 'these', entries: new Map() }

export const AT_START: Selection = { focus: 0, anchor: 0, selected: NONE }

export function isSelected({ selected }: Selection, key: Key): boolean {
  return selected.kind === 'these' ? selected.entries.has(key) : !selected.except.has(key)
}

/** `total`: rows of the list. */
export function selectedCount({ selected }: Selection, total: number): number {
  return selected.kind === 'these' ? selected.entries.size : Math.max(0, total - selected.except.size)
}

/** A plain click, or an arrow: this row and no other. */
export function selectOnly(row: number, entry: Entry): Selection {
  return { focus: row, anchor: row, selected: these([entry]) }
}

/** With ctrl, or a touch while there is a selection: this row as well, or no longer. */
export function toggle(selection: Selection, row: number, entry: Entry): Selection {
  return { focus: row, anchor: row, selected: toggled(selection.selected, entry) }
}

function toggled(selected: Selected, entry: Entry): Selected {
  if (selected.kind === 'these') {
    const entries = new Map(selected.entries)
    if (!entries.delete(entry.key)) entries.set(entry.key, entry)
    return { kind: 'these', entries }
  }
  const except = new Set(selected.except)
  if (!except.delete(entry.key)) except.add(entry.key)
  return { kind: 'all', except }
}

/** With ctrl and an arrow: the focus alone goes there. */
export function focusOn(selection: Selection, row: number): Selection {
  return { ...selection, focus: row, anchor: row }
}

/** The entry that has the focus is in another row now. What is selected stays. */
export function focusMoved(selection: Selection, row: number): Selection {
  return { ...selection, focus: row, anchor: selection.anchor === selection.focus ? row : selection.anchor }
}

/**
 * With shift: everything from the anchor to this row, which is `between`; `adds`: to what is selected already, as with
 * ctrl.
 */
export function extendTo(
  { anchor, selected }: Selection,
  row: number,
  between: readonly Entry[],
  adds: boolean,
): Selection {
  if (!adds) return { focus: row, anchor, selected: these(between) }
  if (selected.kind === 'these') {
    return { focus: row, anchor, selected: these([...selected.entries.values(), ...between]) }
  }
  const except = new Set(selected.except)
  for (const { key } of between) except.delete(key)
  return { focus: row, anchor, selected: { kind: 'all', except } }
}

export function selectAll(selection: Selection): Selection {
  return { ...selection, selected: { kind: 'all', except: new Set() } }
}

/** Of all, those that are known by now, and none that comes later. */
export function selectThese(selection: Selection, entries: readonly Entry[]): Selection {
  return { ...selection, selected: these(entries) }
}

export function selectNone(selection: Selection): Selection {
  return { ...selection, selected: NONE }
}

/** After the list has changed: what is gone is not selected, and the focus is on a row that there is. */
export function withoutGone(selection: Selection, total: number, gone: ReadonlySet<Key>): Selection {
  const last = Math.max(0, total - 1)
  const focus = Math.min(selection.focus, last)
  const anchor = Math.min(selection.anchor, last)
  const { selected } = selection
  const kept: Selected =
    selected.kind === 'these'
      ? these([...selected.entries.values()].filter(({ key }) => !gone.has(key)))
      : { kind: 'all', except: new Set([...selected.except].filter((key) => !gone.has(key))) }
  return { focus, anchor, selected: kept }
}

function these(entries: readonly Entry[]): Selected {
  return { kind: 'these', entries: new Map(entries.map((entry) => [entry.key, entry])) }
}

/** How rows lie: `columns` beside each other, and `page` lines in view. */
export interface Shape {
  readonly total: number
  readonly columns: number
  readonly page: number
}

/** The row that a key leads to from another; null for keys that lead nowhere. */
export function rowAfter(key: string, from: number, { total, columns, page }: Shape): number | null {
  const step = steps(key, columns, page)
  if (step === null || total === 0) return null
  const to = from + step
  // Up and down stay in their column, and stop where there is no other line.
  if (Number.isFinite(step) && Math.abs(step) === columns && columns > 1 && (to < 0 || to >= total)) {
    return from
  }
  return Math.min(total - 1, Math.max(0, to))
}

function steps(key: string, columns: number, page: number): number | null {
  switch (key) {
    case 'ArrowUp':
      return -columns
    case 'ArrowDown':
      return columns
    case 'ArrowLeft':
      return columns === 1 ? null : -1
    case 'ArrowRight':
      return columns === 1 ? null : 1
    case 'PageUp':
      return -columns * page
    case 'PageDown':
      return columns * page
    case 'Home':
      return -Infinity
    case 'End':
      return Infinity
    default:
      return null
  }
}
