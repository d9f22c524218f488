import type { KeyboardEvent } from 'react'

/** Makes Escape answer a question with no, and nothing else, such as closing the dialog around it. */
export function escapeTo(cancel: () => void): (event: KeyboardEvent) => void {
  return (event) => {
    if (event.key !== 'Escape') return
    event.preventDefault()
    event.stopPropagation()
    cancel()
  }
}
