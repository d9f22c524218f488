import { type KeyboardEvent, type MouseEvent, type ReactNode, useId, useLayoutEffect, useRef } from 'react'
import { Drawing } from '../drawings/drawing.tsx'

interface DialogProps {
  readonly title: string
  /** Read out with the title when the dialog opens. */
  readonly why?: ReactNode
  readonly close: () => void
  readonly closeText: string
  readonly children: ReactNode
  readonly isWide?: boolean
  /** Closed by its own button alone, for content that is shown only once. */
  readonly isHeld?: boolean
}

/**
 * The browser focuses `data-autofocus`, else the title, where no key does anything, and restores the focus.
 */
export function Dialog(props: DialogProps) {
  const { title, why, close, closeText, children, isWide = false, isHeld = false } = props
  const ids = useId()
  const heading = `${ids}-title`
  const dialog = useRef<HTMLDialogElement>(null)

  useLayoutEffect(() => {
    const element = dialog.current
    element?.showModal()
    const first = element?.querySelector('[data-autofocus]') ?? element?.querySelector('h2')
    if (first instanceof HTMLElement) first.focus()
    return () => element?.close()
  }, [])

  /** Only a click outside targets the dialog element itself: its content covers it. */
  function leave({ target, currentTarget }: MouseEvent): void {
    if (target === currentTarget && !isHeld) close()
  }

  function press(event: KeyboardEvent): void {
    event.stopPropagation()
    // A second Escape would close the dialog without asking.
    if (isHeld && event.key === 'Escape') event.preventDefault()
  }

  return (
    <dialog
      aria-describedby={why === undefined ? undefined : `${ids}-why`}
      aria-labelledby={heading}
      className="dialog"
      data-wide={isWide || undefined}
      onCancel={(event) => {
        event.preventDefault()
        if (!isHeld) close()
      }}
      onClick={leave}
      onKeyDown={press}
      ref={dialog}
    >
      <div className="dialog-content">
        <div className="dialog-head">
          <h2 id={heading} tabIndex={-1}>
            {title}
          </h2>
          {isHeld ? null : (
            <button aria-label={closeText} className="icon-button" onClick={close} type="button">
              <Drawing of="cross" />
            </button>
          )}
        </div>
        {why === undefined ? null : <p id={`${ids}-why`}>{why}</p>}
        {children}
      </div>
    </dialog>
  )
}
