import type { UploadItem } from './upload-item.ts'

type FinishedItem = Pick<UploadItem, 'name' | 'size' | 'link' | 'folder' | 'path' | 'receipt'>

/** Kept for the tab, so that a reload does not lose the links. */
export interface Finished {
  list(): readonly FinishedItem[]
  add(item: FinishedItem): void
  remove(...items: readonly FinishedItem[]): void
}

/** Milliseconds: many small files end within it, and writing all for each of them would be slow. */
const WRITTEN_EVERY = 300

export function createFinished(window: string): Finished {
  const key = `holdfast-finished-${window}`
  let items = read(key)
  let timer: ReturnType<typeof setTimeout> | null = null

  function write(): void {
    if (timer !== null) clearTimeout(timer)
    timer = null
    try {
      sessionStorage.setItem(key, JSON.stringify(items))
    } catch {
      // Storage failed: the list ends with the page.
    }
  }

  addEventListener('pagehide', () => {
    if (timer !== null) write()
  })

  return {
    list: () => items,
    add({ name, size, link, folder, path, receipt }) {
      const item = { name, size, link, folder, path, ...(receipt === undefined ? {} : { receipt }) }
      items = [...items, item]
      timer ??= setTimeout(write, WRITTEN_EVERY)
    },
    remove(...removed) {
      const links = new Set(removed.map(({ link }) => link))
      items = items.filter(({ link }) => !links.has(link))
      write()
    },
  }
}

function read(key: string): readonly FinishedItem[] {
  try {
    const parsed: unknown = JSON.parse(sessionStorage.getItem(key) ?? '[]')
    return Array.isArray(parsed) ? parsed.filter(isFinished) : []
  } catch {
    return []
  }
}

function isFinished(value: unknown): value is FinishedItem {
  if (typeof value !== 'object' || value === null) return false
  const { name, size, link, folder, path, receipt }: Partial<Record<string, unknown>> = { ...value }
  const isTold = [folder, path].every((told) => told === null || typeof told === 'string')
  const isProven = receipt === undefined || typeof receipt === 'string'
  return (
    typeof name === 'string' && typeof size === 'number' && typeof link === 'string' && isTold && isProven
  )
}
