import { useEffect, useState } from 'react'
import { readDrop } from '../uploads/dropped.ts'
import type { Picked } from '../uploads/picked.ts'

interface Drop {
  /** Whether something is held over the page just now. */
  readonly isOver: boolean
  /** Whether folders were dropped in which there is no file. */
  readonly isEmpty: boolean
}

/** Takes what is dropped anywhere on the page. `refuse`: names what of it cannot be read. `count`: of what is listed, by whatever way it came. */
export function useDrop(
  add: (picked: readonly Picked[]) => void,
  refuse: (paths: readonly string[]) => void,
  count: number,
): Drop {
  const [isOver, setIsOver] = useState(false)
  const [isEmpty, setIsEmpty] = useState(false)
  // Whatever came another way ends the message too.
  useEffect(() => setIsEmpty(false), [count])

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
        setIsEmpty(false)
        // Guests have no folders, and a link takes none that are empty.
        readDrop(event.dataTransfer).then(
          ({ files, unreadable }) => {
            setIsEmpty(files.length + unreadable.length === 0)
            refuse(unreadable)
            add(files)
          },
          () => {},
        )
      },
      { signal },
    )
    return () => listening.abort()
  }, [add, refuse])

  return { isOver, isEmpty }
}
