import { type KeyboardEvent, type RefObject, useEffect, useLayoutEffect, useRef } from 'react'
import { Drawing } from '../../shared/drawings/drawing.tsx'
import { createMenuKeys } from '../../shared/menus/menu-keys.ts'
import { type MenuAnchor, menuPlace } from '../../shared/menus/menu-place.ts'
import { pressInMenu } from '../../shared/menus/press-in-menu.ts'
import { useFiles } from '../files-context.ts'
import { entryActions } from './entry-actions.ts'
import { selectedCount } from './selection.ts'
import { singleSelection } from './single-selection.ts'

interface EntryMenuProps {
  readonly at: MenuAnchor
  /** Keeps the entry selected; offered where the menu itself has selected it. */
  readonly keep: (() => void) | null
  readonly close: () => void
  readonly leave: () => void
}

export function EntryMenu({ at, keep, close, leave }: EntryMenuProps) {
  const files = useFiles()
  const { texts, shown, manager, setLeaveMenu } = files
  const menu = useRef<HTMLDivElement>(null)
  const keys = useRef(createMenuKeys())
  const count = selectedCount(shown.selection, manager.listing.total() ?? 0)
  const actions = entryActions(singleSelection(shown.selection, manager), count, files)
  if (keep !== null) actions.unshift({ label: texts.actions.select, drawing: 'check', act: keep })

  useLayoutEffect(() => {
    const element = menu.current
    const before = document.activeElement
    if (element === null) return
    element.showPopover()
    const { left, top } = menuPlace(at, element.getBoundingClientRect(), {
      width: document.documentElement.clientWidth,
      height: innerHeight,
    })
    element.style.left = `${left}px`
    element.style.top = `${top}px`
    itemsOf(element)[0]?.focus()
    return () => {
      if (element.contains(document.activeElement) && before instanceof HTMLElement) before.focus()
    }
  }, [at])

  useLeaving(menu, leave)

  function press(event: KeyboardEvent): void {
    event.stopPropagation()
    const move = pressInMenu(keys.current, event, itemsOf(menu.current))
    if (move === null) return
    event.preventDefault()
    if (move.kind === 'leave') leave()
  }

  return (
    <div
      aria-label={texts.actions.more}
      className="menu"
      onContextMenu={(event) => event.preventDefault()}
      onKeyDown={press}
      popover="manual"
      ref={menu}
      role="menu"
    >
      {actions.map(({ label, drawing, keys: shortcut, isDeletion = false, act }) => (
        <button
          className="menu-item"
          data-deletion={isDeletion || undefined}
          key={drawing}
          onClick={() => {
            // In one step with what comes, so that Back sees one layer throughout.
            setLeaveMenu(null)
            close()
            act()
          }}
          role="menuitem"
          tabIndex={-1}
          type="button"
        >
          <Drawing of={drawing} />
          <span className="menu-label">{label}</span>
          {shortcut === undefined ? null : (
            <span aria-hidden="true" className="small quiet menu-keys">
              {shortcut}
            </span>
          )}
        </button>
      ))}
    </div>
  )
}

/** Closed by Back, a press outside, or anything that moves it from its entry. */
function useLeaving(menu: RefObject<HTMLElement | null>, leave: () => void): void {
  const { setLeaveMenu } = useFiles()
  useEffect(() => {
    setLeaveMenu(leave)
    return () => setLeaveMenu(null)
  }, [leave, setLeaveMenu])

  useEffect(() => {
    const listening = new AbortController()
    const { signal } = listening
    const away = ({ target }: Event) => {
      if (target instanceof Node && menu.current?.contains(target) === true) return
      leave()
    }
    addEventListener('pointerdown', away, { signal, capture: true })
    addEventListener('scroll', away, { signal, capture: true })
    addEventListener('resize', leave, { signal })
    return () => listening.abort()
  }, [menu, leave])
}

function itemsOf(menu: HTMLElement | null): HTMLElement[] {
  return [...(menu?.querySelectorAll<HTMLElement>('[role="menuitem"]') ?? [])]
}
