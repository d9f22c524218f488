import type { Entry, Key } from '../entry.ts'

/** `all` names no entries, because most may not be loaded. */
export type Selected =
  | { readonly kind: 'these'; readonly entries: ReadonlyMap<Key, Entry> }
  | { readonly kind: 'all'; readonly except: ReadonlySet<Key> }

export interface Selection {
  readonly focus: number
  /** Row from which shift extends. */
  readonly anchor: number
  readonly selected: Selected
}

const NONE: Selected = { kind: 'these', entries: new Map() }

export const AT_START: Selection = { focus: 0, anchor: 0, selected: NONE }

export function isSelected({ selected }: Selection, key: Key): boolean {
  return selected.kind === 'these' ? selected.entries.has(key) : !selected.except.has(key)
}

export function selectedCount({ selected }: Selection, total: number): number {
  return selected.kind === 'these' ? selected.entries.size : Math.max(0, total - selected.except.size)
}

/** Click, or an arrow. */
export function selectOnly(row: number, entry: Entry): Selection {
  return { focus: row, anchor: row, selected: these([entry]) }
}

/** Ctrl+click, or a touch while there is a selection. */
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

/** Ctrl+arrow. */
export function focusOn(selection: Selection, row: number): Selection {
  return { ...selection, focus: row, anchor: row }
}

export function focusMoved(selection: Selection, row: number): Selection {
  return { ...selection, focus: row, anchor: selection.anchor === selection.focus ? row : selection.anchor }
}

/** Shift: the rows from the anchor to this one, which are `between`. `adds`: with Ctrl. */
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

/** Turns `all` into the present entries. */
export function selectThese(selection: Selection, entries: readonly Entry[]): Selection {
  return { ...selection, selected: these(entries) }
}

export function selectNone(selection: Selection): Selection {
  return { ...selection, selected: NONE }
}

/** Drops entries that are gone and bounds the focus. */
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

export interface Shape {
  readonly total: number
  readonly columns: number
  readonly page: number
}

export function rowAfter(key: string, from: number, { total, columns, page }: Shape): number | null {
  const step = steps(key, columns, page)
  if (step === null || total === 0) return null
  const to = from + step
  // Up and down keep their column, and stop at the last line.
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
