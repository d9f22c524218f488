/** In the order in which they are offered. */
export const FILE_SORTS = ['name', 'size', 'created_at', 'downloads'] as const
export type FileSort = (typeof FILE_SORTS)[number]

export type FolderLook = 'list' | 'gallery'

/** How a folder is looked at, as the query of its address says. */
export interface FolderQuery {
  readonly sort: FileSort
  readonly order: 'asc' | 'desc'
  /** From 1. */
  readonly page: number
  /** null: not asked for. */
  readonly look: FolderLook | null
}

export const FIRST_LOOK: FolderQuery = { page: 1, sort: 'created_at', order: 'desc', look: null }

/** Most want names from A on, and of everything else the most first. */
const ORDERS = { name: 'asc', size: 'desc', created_at: 'desc', downloads: 'desc' } as const satisfies Record<
  FileSort,
  FolderQuery['order']
>

/** Beyond that no folder has pages. */
const MOST_PAGES = 1_000_000

/** What cannot be understood counts as not said: an address that somebody has shortened still opens. */
export function readFolderQuery(query: URLSearchParams): FolderQuery {
  const sort = sortOf(query.get('sort'))
  const order = query.get('order')
  const look = query.get('view')
  const page = Number(query.get('page') ?? '1')
  return {
    sort,
    order: order === 'asc' || order === 'desc' ? order : ORDERS[sort],
    look: look === 'list' || look === 'gallery' ? look : null,
    page: Number.isInteger(page) && page >= 1 ? Math.min(page, MOST_PAGES) : 1,
  }
}

function sortOf(text: string | null): FileSort {
  return FILE_SORTS.find((sort) => sort === text) ?? FIRST_LOOK.sort
}

/** The address of a look, relative to the folder's page; says only what is not so by itself. */
export function folderAddress({ page, sort, order, look }: FolderQuery): string {
  const query = new URLSearchParams()
  if (sort !== FIRST_LOOK.sort) query.set('sort', sort)
  if (order !== ORDERS[sort]) query.set('order', order)
  if (look !== null) query.set('view', look)
  if (page > 1) query.set('page', String(page))
  return `?${query}`
}

/**
 * The address of another page in the same order. In the order that a plain link gives it is `?page=N` and nothing else,
 * which programs look for: the browser remembers the look, see `rememberingLook`.
 */
export function pageAddress(query: FolderQuery, page: number): string {
  const { sort, order } = query
  const isPlain = sort === FIRST_LOOK.sort && order === FIRST_LOOK.order
  const rest = folderAddress({ ...query, page: 1, look: isPlain ? null : query.look }).slice(1)
  const parts = [...(page === 1 ? [] : [`page=${page}`]), ...(rest === '' ? [] : [rest])]
  return `?${parts.join('&')}`
}

/** Sorted by that: turned around where it is sorted so already. Begins at the first page. */
export function sortedBy(query: FolderQuery, sort: FileSort): FolderQuery {
  const turned = query.order === 'asc' ? 'desc' : 'asc'
  return { ...query, page: 1, sort, order: sort === query.sort ? turned : ORDERS[sort] }
}

/** The page, its neighbours, and both ends; null stands for those left out between. */
export function pagesAround(page: number, pages: number): (number | null)[] {
  const near = [page - 1, page, page + 1].filter((each) => each > 1 && each < pages)
  const shown = [1, ...near, ...(pages > 1 ? [pages] : [])]
  return shown.flatMap((each, at) => (each - (shown[at - 1] ?? each) > 1 ? [null, each] : [each]))
}
