import {
  type KeyboardEvent,
  type MouseEvent,
  type RefObject,
  useCallback,
  useEffect,
  useLayoutEffect,
  useRef,
  useState,
} from 'react'
import { type MenuAnchor, pointerAnchor } from '../../shared/menus/menu-place.ts'
import { useFiles } from '../files-context.ts'
import type { ManagerView } from '../manager-view.ts'
import type { Preferred } from '../preferences.ts'
import { EntryMenu } from '../selection/entry-menu.tsx'
import { isSelected, rowAfter } from '../selection/selection.ts'
import { commandOfKey } from './key-command.ts'
import { ListHead } from './list-head.tsx'
import { ListLine } from './list-line.tsx'
import { columnsOf, heightOf, linesOf, rowsInView, scrollTo } from './rows-in-view.ts'
import { TileLine } from './tile-line.tsx'
import { isTouchDevice } from './use-entry-events.ts'
import { type FocusDue, useRowFocus } from './use-row-focus.ts'
import { useScrolled } from './use-scrolled.ts'

/** Pixels. */
const LINE = 44
/** Without room for columns, their values are below the name. */
const TALL_LINE = 60
const NARROW = 640
const TILE = { width: 168, height: 196 }
/** For windows in which only one tile would fit beside no other. */
const SLIM_TILE = 140

interface EntryGridProps {
  readonly look: Preferred['look']
  readonly total: number
  readonly isDue: FocusDue
}

/** Renders only lines in view and the focused one. Arrows move the focus; for other keys see `keyCommand`. */
export function EntryGrid({ look, total, isDue }: EntryGridProps) {
  const files = useFiles()
  const { texts, shown, manager } = files
  const { listing } = manager
  const grid = useRef<HTMLDivElement>(null)
  const { scrolled, width, height } = useScrolled(grid)
  const isTiles = look === 'tiles'
  const columns = isTiles ? columnsOf(width, width < 2 * TILE.width ? SLIM_TILE : TILE.width) : 1
  const lineHeight = isTiles ? TILE.height : width < NARROW ? TALL_LINE : LINE
  const { first, end } = rowsInView({ scrolled, height, lineHeight, columns, total })
  const { query, selection, version } = shown
  const { focus } = selection
  const focusRow = useRowFocus(grid, focus, isDue)
  useRevealed(grid, shown.revealed, { isTiles, lineHeight, columns })

  // The listing may change with each version.
  useEffect(() => {
    if (height > 0) listing.need({ first, end })
  }, [listing, first, end, height, version])

  useEffect(() => {
    if (grid.current === null) return
    grid.current.scrollTop = 0
    if (rowAt(document.activeElement) !== null) focusRow()
  }, [query, focusRow])

  const { menu, openMenu, closeMenu, leaveMenu } = useEntryMenu()

  function press(event: KeyboardEvent): void {
    if (event.target instanceof HTMLButtonElement) return
    const page = Math.max(1, Math.floor(height / lineHeight) - 1)
    const ctrl = event.ctrlKey || event.metaKey
    const to = event.altKey ? null : rowAfter(event.key, focus, { total, columns, page })
    if (to !== null) {
      event.preventDefault()
      reveal(grid.current, to, { isTiles, lineHeight, columns })
      focusRow()
      manager.pick(to, { ctrl, shift: event.shiftKey, isFocusAlone: ctrl && !event.shiftKey })
    } else if (isMenuKey(event)) {
      event.preventDefault()
      const at = anchorIn(grid.current, focus)
      if (at !== null) openMenu(focus, at)
    } else if (commandOfKey(event, files)) event.preventDefault()
  }

  const Line = isTiles ? TileLine : ListLine
  return (
    <>
      <div
        aria-colcount={isTiles ? columns : undefined}
        aria-label={listing.isFound() ? texts.search : texts.list}
        aria-multiselectable="true"
        aria-rowcount={Math.ceil(total / columns) + (isTiles ? 0 : 1)}
        className="entries"
        data-waiting={listing.isOpening()}
        data-look={look}
        onContextMenu={(event) => openAt(event, openMenu)}
        onKeyDown={press}
        ref={grid}
        role="grid"
      >
        {isTiles ? null : <ListHead />}
        <div
          className="entries-space"
          role="rowgroup"
          style={{ height: heightOf(total, columns, lineHeight) }}
        >
          {linesOf({ first, end }, focus, columns).map((line) => (
            <Line
              columns={columns}
              key={line}
              line={line}
              openMenu={openMenu}
              place={{ transform: `translateY(${line * lineHeight}px)`, height: lineHeight }}
              total={total}
            />
          ))}
        </div>
      </div>
      {menu === null ? null : <GridMenu close={closeMenu} leave={leaveMenu} menu={menu} />}
    </>
  )
}

interface GridMenuProps {
  readonly menu: Menu
  readonly close: () => void
  readonly leave: () => void
}

function GridMenu({ menu, close, leave }: GridMenuProps) {
  return <EntryMenu at={menu.at} close={close} keep={menu.isPassing ? close : null} leave={leave} />
}

interface Menu {
  readonly at: MenuAnchor
  /** The entry is selected only while its menu is open. With touch, a selection changes what a tap does. */
  readonly isPassing: boolean
}

function useEntryMenu() {
  const { manager } = useFiles()
  const { listing } = manager
  const [menu, setMenu] = useState<Menu | null>(null)
  const openMenu = useCallback(
    (row: number, at: MenuAnchor) => {
      const entry = listing.isOpening() ? null : listing.at(row)
      if (entry === null) return
      const isNew = !isSelected(manager.snapshot().selection, entry.key)
      if (isNew) manager.pick(row, { ctrl: false, shift: false })
      setMenu({ at, isPassing: isNew && isTouchDevice() })
    },
    [listing, manager],
  )
  const closeMenu = useCallback(() => setMenu(null), [])
  const leaveMenu = useCallback(() => {
    if (menu?.isPassing === true) manager.selectNone()
    setMenu(null)
  }, [menu, manager])
  return { menu, openMenu, closeMenu, leaveMenu }
}

function isMenuKey({ key, shiftKey }: KeyboardEvent): boolean {
  return key === 'ContextMenu' || (key === 'F10' && shiftKey)
}

interface Shape {
  readonly isTiles: boolean
  /** Pixels. */
  readonly lineHeight: number
  readonly columns: number
}

/** Scrolls as little as possible. */
function reveal(grid: HTMLElement | null, row: number, { isTiles, lineHeight, columns }: Shape): void {
  if (grid === null) return
  // The sticky head covers what is below it.
  const head = isTiles ? 0 : LINE
  const view = { scrolled: grid.scrollTop, height: grid.clientHeight - head, lineHeight, columns }
  grid.scrollTop = scrollTo(row, view)
}

function useRevealed(grid: RefObject<HTMLElement | null>, revealed: ManagerView['revealed'], shape: Shape) {
  const latest = useRef(shape)
  latest.current = shape
  useLayoutEffect(() => {
    if (revealed !== null) reveal(grid.current, revealed.row, latest.current)
  }, [grid, revealed])
}

/** For a menu opened by keyboard; null when the row is not rendered. */
function anchorIn(grid: HTMLElement | null, row: number): MenuAnchor | null {
  const place = grid?.querySelector(`[data-row="${row}"]`)?.getBoundingClientRect()
  return place === undefined ? null : pointerAnchor({ clientX: place.left + LINE, clientY: place.top + LINE })
}

function openAt(event: MouseEvent, open: (row: number, at: MenuAnchor) => void): void {
  const row = rowAt(event.target)
  if (row === null) return
  event.preventDefault()
  open(row, pointerAnchor(event))
}

function rowAt(target: EventTarget | null): number | null {
  const element = target instanceof Element ? target.closest<HTMLElement>('[data-row]') : null
  return element === null ? null : Number(element.dataset.row)
}
