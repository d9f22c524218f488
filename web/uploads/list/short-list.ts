import type { UploadItem } from '../upload-item.ts'

const ALL_SHOWN = 12
const SOME = 5

/**
 * Those that need the user, those being sent, and else the last finished ones, whose links are wanted now.
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
