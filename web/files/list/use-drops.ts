import { useEffect, useRef, useState } from 'react'
import { readDrop } from '../../uploads/dropped.ts'
import type { UploadEngine } from '../../uploads/engine.ts'
import { mayGo } from '../commands.ts'
import { type Entry, uploadFolder } from '../entry.ts'
import type { FilesContextValue } from '../files-context.ts'

/** Unique to this page: another open one has other entries. */
const ENTRIES = `application/x-holdfast-entries-${Math.random().toString(36).slice(2)}`

/** During a drag, other pages only see the type. */
let dragged: readonly Entry[] = []

export function startDrag(transfer: DataTransfer, entries: readonly Entry[]): void {
  dragged = entries
  transfer.setData(ENTRIES, '')
  transfer.setData('text/plain', entries.map(({ name }) => name).join('\n'))
  transfer.effectAllowed = 'move'
}

/**
 * Elements with `data-drop` are folders. Returns whether files are held over the page, outside any folder.
 */
export function useDrops(files: FilesContextValue, engine: UploadEngine): boolean {
  const [isOver, setIsOver] = useState(false)
  const latest = useRef(files)
  latest.current = files

  useEffect(() => {
    const listening = new AbortController()
    const { signal } = listening
    let marked: HTMLElement | null = null

    function mark(element: HTMLElement | null): void {
      if (marked === element) return
      if (marked !== null) delete marked.dataset.over
      if (element !== null) element.dataset.over = 'true'
      marked = element
    }

    addEventListener(
      'dragover',
      (event) => {
        const { dataTransfer: transfer } = event
        if (transfer === null) return
        const target = folderAt(event.target)
        const isFiles = transfer.types.includes('Files')
        const takes = isFiles || (transfer.types.includes(ENTRIES) && target !== null && isAllowed(target))
        mark(takes ? target : null)
        setIsOver(isFiles && target === null)
        if (!takes) return
        event.preventDefault()
        transfer.dropEffect = isFiles ? 'copy' : 'move'
      },
      { signal },
    )
    addEventListener(
      'dragleave',
      ({ relatedTarget }) => {
        if (relatedTarget === null) end()
      },
      { signal },
    )
    addEventListener('dragend', end, { signal })
    addEventListener(
      'drop',
      (event) => {
        const { dataTransfer: transfer } = event
        const target = folderAt(event.target)
        end()
        if (transfer === null) return
        const { commands, shown } = latest.current
        if (transfer.types.includes('Files')) {
          event.preventDefault()
          const place = target?.dataset.drop ?? shown.query.place
          readDrop(transfer).then(
            ({ files, emptyFolders, unreadable }) => {
              if (unreadable.length > 0) engine.act((list) => list.refuse(unreadable, uploadFolder(place)))
              engine.add(files, uploadFolder(place))
              commands.makeFolders(place, emptyFolders)
            },
            () => {},
          )
        } else if (transfer.types.includes(ENTRIES) && target?.dataset.drop !== undefined) {
          event.preventDefault()
          if (isAllowed(target)) commands.move(dragged, target.dataset.drop)
        }
      },
      { signal },
    )

    function end(): void {
      mark(null)
      setIsOver(false)
    }

    function isAllowed({ dataset }: HTMLElement): boolean {
      return dataset.drop !== undefined && mayGo(latest.current.manager, dragged, dataset.drop)
    }

    return () => listening.abort()
  }, [engine])

  return isOver
}

function folderAt(target: EventTarget | null): HTMLElement | null {
  return target instanceof Element ? target.closest<HTMLElement>('[data-drop]') : null
}
