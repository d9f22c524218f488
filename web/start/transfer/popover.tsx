import type { ReactNode, SyntheticEvent, ToggleEvent } from 'react'

interface PopoverProps {
  readonly id: string
  readonly label: string
  readonly className?: string
  readonly opened?: () => void
  readonly closed?: () => void
  readonly children: ReactNode
}

/** Pixels from the edges of the window and from its button. */
const GAP = 8
/** Pixels that it needs below its button; else it opens above. */
const HEIGHT = 320

/** Floats beside the button that opens it, `popoverTarget`, so that it moves nothing. Closes by Escape and outside. */
export function Popover({ id, label, className = '', opened, closed, children }: PopoverProps) {
  return (
    <div
      aria-label={label}
      className={`popover ${className}`}
      id={id}
      onBeforeToggle={(event) => {
        if (ofItself(event) && event.newState === 'open') placeBeside(event.currentTarget)
      }}
      onToggle={(event) => {
        if (!ofItself(event)) return
        if (event.newState === 'open') opened?.()
        else closed?.()
      }}
      popover="auto"
      role="dialog"
    >
      {children}
    </div>
  )
}

function ofItself({ target, currentTarget }: SyntheticEvent & Pick<ToggleEvent, 'newState'>): boolean {
  return target === currentTarget
}

/** Of the page, with which it scrolls. */
export function placeBeside(popover: HTMLElement): void {
  const button = document.querySelector(`[popovertarget="${CSS.escape(popover.id)}"]`)
  if (button === null) return
  const { left, right, top, bottom } = button.getBoundingClientRect()
  const { clientWidth, clientHeight } = document.documentElement
  const width = Math.min(POPOVER_WIDTH, clientWidth - 2 * GAP)
  const isEnd = left > clientWidth / 2 || left + width > clientWidth - GAP
  const isAbove = bottom + GAP + HEIGHT > clientHeight && top > clientHeight - bottom
  const { style } = popover
  style.left = `${scrollX + Math.max(GAP, isEnd ? Math.min(right, clientWidth - GAP) - width : left)}px`
  style.width = `${width}px`
  style.top = isAbove ? 'auto' : `${scrollY + bottom + GAP}px`
  // From the bottom of the first window of the page.
  style.bottom = isAbove ? `${clientHeight - scrollY - top + GAP}px` : 'auto'
}

const POPOVER_WIDTH = 320
