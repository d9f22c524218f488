import { type KeyboardEvent, useEffect, useLayoutEffect, useRef } from 'react'
import { Drawing } from '../shared/drawing.tsx'
import { entryActions } from './entry-actions.ts'
import { useFiles } from './files-context.ts'
import { selectedCount } from './selection.ts'
import { theOnly } from './the-only.ts'

/** Pixels of the window. */
export interface MenuPlace {
  readonly x: number
  readonly y: number
}

interface EntryMenuProps {
  readonly at: MenuPlace
  /** Offered where the menu alone has selected the entry: it stays selected. Left, the menu takes that back. */
  readonly keep: (() => void) | null
  readonly close: () => void
  /** The person has chosen nothing. */
  readonly leave: () => void
}

/** What can be done with what is selected, where the person is. The focus goes back to where it was. */
export function EntryMenu({ at, keep, close, leave }: EntryMenuProps) {
  const files = useFiles()
  const { texts, shown, manager } = files
  const menu = useRef<HTMLDivElement>(null)
  const count = selectedCount(shown.selection, manager.listing.total() ?? 0)
  const actions = entryActions(theOnly(shown.selection, manager), count, files)
  if (keep !== null) actions.unshift({ label: texts.actions.select, drawing: 'check', act: keep })

  useLayoutEffect(() => {
    const element = menu.current
    const before = document.activeElement
    if (element === null) return
    element.showPopover()
    const { width, height } = element.getBoundingClientRect()
    element.style.left = `${Math.max(8, Math.min(at.x, innerWidth - width - 8))}px`
    element.style.top = `${Math.max(8, Math.min(at.y, innerHeight - height - 8))}px`
    element.querySelector<HTMLElement>('[role="menuitem"]')?.focus()
    return () => {
      if (element.contains(document.activeElement) && before instanceof HTMLElement) before.focus()
    }
  }, [at])

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
  }, [leave])

  function press(event: KeyboardEvent): void {
    event.stopPropagation()
    const items = [...(menu.current?.querySelectorAll<HTMLElement>('[role="menuitem"]') ?? [])]
    const index = items.findIndex((item) => item.matches(':focus'))
    const to = { ArrowDown: index + 1, ArrowUp: index - 1, Home: 0, End: -1 }[event.key]
    if (to !== undefined) {
      event.preventDefault()
      items.at(to === items.length ? 0 : to)?.focus()
    } else if (event.key === 'Escape' || event.key === 'Tab') {
      event.preventDefault()
      leave()
    }
  }

  return (
    <div
      aria-label={texts.actions.more}
      className="menu"
      onKeyDown={press}
      popover="manual"
      ref={menu}
      role="menu"
    >
      {actions.map(({ label, drawing, keys, isDeletion = false, act }) => (
        <button
          className="menu-item"
          data-deletion={isDeletion || undefined}
          key={drawing}
          onClick={() => {
            close()
            act()
          }}
          role="menuitem"
          tabIndex={-1}
          type="button"
        >
          <Drawing of={drawing} />
          <span>{label}</span>
          {keys === undefined ? null : (
            <span aria-hidden="true" className="small quiet menu-keys">
              {keys}
            </span>
          )}
        </button>
      ))}
    </div>
  )
}
