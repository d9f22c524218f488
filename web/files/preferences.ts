import type { Sort } from './list/listing.ts'

export interface Preferred {
  readonly sort: Sort
  readonly order: 'asc' | 'desc'
  readonly look: 'list' | 'tiles'
}

export interface Preferences {
  read(): Preferred
  /** Without storage, they end with the page. */
  write(preferred: Preferred): void
}

const KEY = 'holdfast-files'
const OWN: Preferred = { sort: 'name', order: 'asc', look: 'list' }
const SORTS: readonly Sort[] = ['name', 'size', 'created_at', 'downloads']

export function createPreferences(): Preferences {
  return {
    read() {
      try {
        const { sort, order, look }: Partial<Record<string, unknown>> = {
          ...JSON.parse(localStorage.getItem(KEY) ?? '{}'),
        }
        return {
          sort: SORTS.find((known) => known === sort) ?? OWN.sort,
          order: order === 'desc' ? 'desc' : OWN.order,
          look: look === 'tiles' ? 'tiles' : OWN.look,
        }
      } catch {
        return OWN
      }
    },
    write(preferred) {
      try {
        localStorage.setItem(KEY, JSON.stringify(preferred))
      } catch {
        // Storage failed: unchanged.
      }
    },
  }
}
