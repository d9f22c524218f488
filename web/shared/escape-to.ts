import type { KeyboardEvent } from 'react'

/** Escape cancels the question and not the dialog around it. */
export function escapeTo(cancel: () => void): (event: KeyboardEvent) => void {
  return (event) => {
    if (event.key !== 'Escape') return
    event.preventDefault()
    event.stopPropagation()
    cancel()
  }
}
