import type { MouseEvent } from 'react'
import { Drawing } from '../shared/drawing.tsx'
import { type Place, TOP } from './entry.ts'
import { useFiles } from './files-context.ts'
import { ListFields, type ListFieldsProps } from './list-fields.tsx'
import { addressOf } from './use-place.ts'

/** Where the person is, and the way back up: entries can be dropped on each step. And how what is there is shown. */
export function PathBar(look: ListFieldsProps) {
  const { texts, shown, commands } = useFiles()
  const { place } = shown.query
  const above = shown.tree?.path(place) ?? []
  const steps = [{ id: TOP, name: texts.top }, ...above]

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
      <nav aria-label={texts.path}>
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
      <ListFields {...look} />
    </div>
  )
}
