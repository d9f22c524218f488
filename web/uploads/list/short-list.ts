import type { UploadItem } from '../upload-item.ts'

/** Up to so many uploads are all shown. */
const ALL_SHOWN = 12
/** Of many: so many of those that are over. */
const SOME = 5

/**
 * What is shown of many uploads before somebody asks for all: those that need the person, those that are being sent, and
 * where nothing is, the last of those that are done, whose links are wanted now. They stay in their order.
 */
export function shortList(items: readonly UploadItem[]): readonly UploadItem[] {
  if (items.length <= ALL_SHOWN) return items
  const urgent = items.filter(({ state }) => URGENT.includes(state.kind)).slice(0, ALL_SHOWN)
  const moving = items.filter(({ state }) => MOVING.includes(state.kind)).slice(0, SOME)
  const rest = moving.length > 0 ? [] : items.filter((item) => !urgent.includes(item)).slice(-SOME)
  const shown = new Set([...urgent, ...moving, ...rest])
  return items.filter((item) => shown.has(item))
}

const URGENT: readonly string[] = ['failed', 'interrupted', 'cancelled']
const MOVING: readonly string[] = ['starting', 'sending', 'processing', 'waiting', 'paused']
