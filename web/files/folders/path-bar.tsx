import { type MouseEvent, useEffect, useRef } from 'react'
import { Drawing } from '../../shared/drawings/drawing.tsx'
import { type Place, TOP } from '../entry.ts'
import { useFiles } from '../files-context.ts'
import { addressOf } from '../use-place.ts'

export function PathBar() {
  const { texts, shown, commands } = useFiles()
  const { place } = shown.query
  const above = shown.tree?.path(place) ?? []
  const path = useRef<HTMLElement>(null)
  const steps = [{ id: TOP, name: texts.top }, ...above]

  // The last step matters most where space is short.
  useEffect(() => {
    if (path.current === null) return
    path.current.scrollLeft = path.current.scrollWidth
    markCut(path.current)
  })

  function follow(event: MouseEvent, to: Place): void {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return
    event.preventDefault()
    commands.go(to)
  }

  return (
    <div className="path-bar">
      <button
        aria-label={texts.showFolders}
        className="icon-button folders-button"
        onClick={() => commands.show({ kind: 'folders' })}
        type="button"
      >
        <Drawing of="folders" />
      </button>
      <nav aria-label={texts.path} onScroll={({ currentTarget }) => markCut(currentTarget)} ref={path}>
        <ol className="path">
          {steps.map(({ id, name }) => (
            <li key={id}>
              <a
                aria-current={id === place ? 'page' : undefined}
                data-drop={id}
                href={addressOf(id)}
                onClick={(event) => follow(event, id)}
              >
                <bdi>{name}</bdi>
              </a>
            </li>
          ))}
        </ol>
      </nav>
    </div>
  )
}

function markCut(path: HTMLElement): void {
  path.toggleAttribute('data-cut', path.scrollLeft > 0)
}
