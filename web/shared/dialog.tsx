import { type MouseEvent, type ReactNode, useId, useLayoutEffect, useRef } from 'react'
import { Drawing } from './drawing.tsx'

interface DialogProps {
  readonly title: string
  readonly close: () => void
  /** What the button says that closes it. */
  readonly closeText: string
  readonly children: ReactNode
  readonly isWide?: boolean
  /** It shows what is never seen again, so that a click beside it does not close it. */
  readonly isHeld?: boolean
}

/**
 * Stands over the page, which waits. The browser keeps the focus in it, first on what is marked `data-autofocus`, and
 * gives it back when it is gone.
 */
export function Dialog({ title, close, closeText, children, isWide = false, isHeld = false }: DialogProps) {
  const heading = useId()
  const dialog = useRef<HTMLDialogElement>(null)

  useLayoutEffect(() => {
    const element = dialog.current
    element?.showModal()
    element?.querySelector<HTMLElement>('[data-autofocus]')?.focus()
    return () => element?.close()
  }, [])

  /** A click beside it is one on the dialog itself, which its content fills. */
  function leave({ target, currentTarget }: MouseEvent): void {
    if (target === currentTarget && !isHeld) close()
  }

  return (
    <dialog
      aria-labelledby={heading}
      className="dialog"
      data-wide={isWide || undefined}
      onCancel={(event) => {
        event.preventDefault()
        close()
      }}
      onClick={leave}
      onKeyDown={(event) => event.stopPropagation()}
      ref={dialog}
    >
      <div className="dialog-content">
        <div className="dialog-head">
          <h2 id={heading}>{title}</h2>
          <button aria-label={closeText} className="icon-button" onClick={close} type="button">
            <Drawing of="cross" />
          </button>
        </div>
        {children}
      </div>
    </dialog>
  )
}
