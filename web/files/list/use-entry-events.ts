import type { DragEvent, MouseEvent } from 'react'
import type { Entry } from '../entry.ts'
import { useFiles } from '../files-context.ts'
import { isSelected, selectedCount } from '../selection/selection.ts'
import { startDrag } from './use-drops.ts'
import { useLongPress } from './use-long-press.ts'

export function useEntryEvents(row: number, entry: Entry) {
  const { shown, manager, commands } = useFiles()
  const { selection } = shown
  const isChosen = isSelected(selection, entry.key)

  /** While another list opens, no file can be selected for details. */
  const canShow = () => entry.kind === 'folder' || !manager.listing.isOpening()

  const longPress = useLongPress(() => {
    if (!isChosen) manager.pick(row, { ctrl: true, shift: false })
  })

  return {
    ...longPress.events,
    onClick(event: MouseEvent) {
      if (longPress.isOver()) return
      const { ctrlKey, metaKey, shiftKey } = event
      if (!isTouch(event)) {
        manager.pick(row, { ctrl: ctrlKey || metaKey, shift: shiftKey })
        return
      }
      // A tap opens, or selects while there is a selection.
      if (selectedCount(selection, manager.listing.total() ?? 0) > 0)
        manager.pick(row, { ctrl: true, shift: false })
      else if (entry.kind === 'folder') commands.open(entry)
      else if (canShow()) {
        manager.pick(row, { ctrl: false, shift: false })
        commands.open(entry)
      }
    },
    onDoubleClick(event: MouseEvent) {
      if (!isTouch(event) && canShow()) commands.open(entry)
    },
    onDragStart(event: DragEvent) {
      // A long press selects; the menu moves entries.
      if (longPress.isTouched()) {
        event.preventDefault()
        return
      }
      const { selected } = selection
      const isPart = isChosen && selected.kind === 'these'
      if (!isPart) manager.pick(row, { ctrl: false, shift: false })
      startDrag(event.dataTransfer, isPart ? [...selected.entries.values()] : [entry])
    },
  }
}

function isTouch({ nativeEvent }: MouseEvent): boolean {
  if (nativeEvent instanceof PointerEvent) return nativeEvent.pointerType === 'touch'
  return isTouchDevice()
}

export function isTouchDevice(): boolean {
  return matchMedia('(pointer: coarse)').matches
}
