import type { UploadItem } from './upload-item.ts'

type FinishedItem = Pick<UploadItem, 'name' | 'size' | 'link' | 'folder' | 'path'>

/** Kept for the tab, so that a reload does not lose the links. */
export interface Finished {
  list(): readonly FinishedItem[]
  add(item: FinishedItem): void
  remove(...items: readonly FinishedItem[]): void
}

export function createFinished(window: string): Finished {
  const key = `holdfast-finished-${window}`

  function list(): readonly FinishedItem[] {
    try {
      const parsed: unknown = JSON.parse(sessionStorage.getItem(key) ?? '[]')
      return Array.isArray(parsed) ? parsed.filter(isFinished) : []
    } catch {
      return []
    }
  }

  function save(items: readonly FinishedItem[]): void {
    try {
      sessionStorage.setItem(key, JSON.stringify(items))
    } catch {
      // Storage failed: the list ends with the page.
    }
  }

  return {
    list,
    add: ({ name, size, link, folder, path }) => save([...list(), { name, size, link, folder, path }]),
    remove(...items) {
      const links = new Set(items.map(({ link }) => link))
      save(list().filter(({ link }) => !links.has(link)))
    },
  }
}

function isFinished(value: unknown): value is FinishedItem {
  if (typeof value !== 'object' || value === null) return false
  const { name, size, link, folder, path }: Partial<Record<string, unknown>> = { ...value }
  const isTold = [folder, path].every((told) => told === null || typeof told === 'string')
  return typeof name === 'string' && typeof size === 'number' && typeof link === 'string' && isTold
}
