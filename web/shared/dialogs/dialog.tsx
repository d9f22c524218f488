import { type KeyboardEvent, type MouseEvent, type ReactNode, useId, useLayoutEffect, useRef } from 'react'
import { Drawing } from '../drawings/drawing.tsx'

interface DialogProps {
  readonly title: string
  /** What it asks or tells, read out with the title when it opens. */
  readonly why?: ReactNode
  readonly close: () => void
  /** Label of the close button. */
  readonly closeText: string
  readonly children: ReactNode
  readonly isWide?: boolean
  /** Leaves its own button as the only way out, for content that is shown only once. */
  readonly isHeld?: boolean
}

/**
 * Modal dialog. The browser keeps the focus inside, initially on the element marked `data-autofocus`, else on
 * the title, where no key does anything, and restores it afterwards.
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

  /** A click outside targets the dialog element itself, which its content covers completely. */
  function leave({ target, currentTarget }: MouseEvent): void {
    if (target === currentTarget && !isHeld) close()
  }

  function press(event: KeyboardEvent): void {
    event.stopPropagation()
    // A second Escape would close it without asking.
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
