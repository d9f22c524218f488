import { useEffect, useState } from 'react'
import { droppedFiles } from '../uploads/dropped.ts'
import type { Picked } from '../uploads/picked.ts'

/** Takes what is dropped anywhere on the page. Whether something is held over it just now. */
export function useDrop(add: (picked: readonly Picked[]) => void): boolean {
  const [isOver, setIsOver] = useState(false)

  useEffect(() => {
    const listening = new AbortController()
    const { signal } = listening
    const hasFiles = ({ dataTransfer }: DragEvent) => dataTransfer?.types.includes('Files') === true

    addEventListener(
      'dragover',
      (event) => {
        if (!hasFiles(event)) return
        event.preventDefault()
        if (event.dataTransfer !== null) event.dataTransfer.dropEffect = 'copy'
        setIsOver(true)
      },
      { signal },
    )
    addEventListener(
      'dragleave',
      // It is also fired between parts of the page; only outside there is nothing that it goes to.
      ({ relatedTarget }) => {
        if (relatedTarget === null) setIsOver(false)
      },
      { signal },
    )
    addEventListener(
      'drop',
      (event) => {
        if (!hasFiles(event) || event.dataTransfer === null) return
        event.preventDefault()
        setIsOver(false)
        droppedFiles(event.dataTransfer).then(add, () => {})
      },
      { signal },
    )
    return () => listening.abort()
  }, [add])

  return isOver
}
