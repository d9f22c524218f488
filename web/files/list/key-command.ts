import type { KeyboardEvent } from 'react'
import { TOP } from '../entry.ts'
import type { FilesContextValue } from '../files-context.ts'
import { selectedCount } from '../selection/selection.ts'

export function commandOfKey(event: KeyboardEvent, files: FilesContextValue): boolean {
  const { key, shiftKey } = event
  const ctrl = event.ctrlKey || event.metaKey
  const { shown, manager, commands } = files
  const { selection, query, tree } = shown
  const total = manager.listing.total() ?? 0
  const focused = manager.listing.isOpening() ? null : manager.listing.at(selection.focus)
  const isNone = selectedCount(selection, total) === 0

  if (ctrl && key.toLowerCase() === 'a') {
    manager.selectAll()
    return true
  }
  if (ctrl && key.toLowerCase() === 'z' && !shiftKey) {
    commands.undoLast()
    return true
  }
  if (event.altKey) {
    if (key !== 'ArrowUp' || query.place === TOP) return false
    commands.go(tree?.find(query.place)?.place ?? TOP)
    return true
  }
  switch (key) {
    case ' ':
      manager.pick(selection.focus, { ctrl: true, shift: shiftKey })
      return true
    case 'Escape':
      if (isNone) return false
      manager.selectNone()
      return true
    case 'Enter':
      if (focused === null) return false
      manager.pick(selection.focus, { ctrl: false, shift: false })
      commands.open(focused)
      return true
    case 'F2':
      if (focused !== null) commands.show({ kind: 'rename', entry: focused })
      return focused !== null
    case 'Delete':
      if (isNone) return false
      commands.withChosen(commands.remove)
      return true
    default:
      return false
  }
}
