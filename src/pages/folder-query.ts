import { wholeNumber } from '../domain/ids.ts'
export const FILE_SORTS = ['name', 'size', 'created_at', 'downloads'] as const
export type FileSort = (typeof FILE_SORTS)[number]

export type FolderViewMode = 'list' | 'gallery'

export interface FolderOrder {
  readonly sort: FileSort
  readonly order: 'asc' | 'desc'
}

export interface FolderQuery extends FolderOrder {
  /** From 1. */
  readonly page: number
  readonly look: FolderViewMode | null
}

export const DEFAULT_QUERY: FolderQuery = { page: 1, sort: 'name', order: 'asc', look: null }

const ORDERS = { name: 'asc', size: 'desc', created_at: 'desc', downloads: 'desc' } as const satisfies Record<
  FileSort,
  FolderQuery['order']
>

const MOST_PAGES = 1_000_000

/** Invalid values count as none, so that a truncated address still opens. */
export function askedOrder(query: URLSearchParams): FolderOrder | null {
  const sort = sortNamed(query.get('sort'))
  const order = orderNamed(query.get('order'))
  return sort === null && order === null ? null : orderOf(sort ?? DEFAULT_QUERY.sort, order)
}

/** `remembered`: the browser's last order, for addresses without one. */
export function readFolderQuery(query: URLSearchParams, remembered: FolderOrder | null): FolderQuery {
  const { sort, order } = askedOrder(query) ?? remembered ?? DEFAULT_QUERY
  const look = query.get('view')
  const page = wholeNumber(query.get('page')) ?? 1
  return {
    sort,
    order,
    look: look === 'list' || look === 'gallery' ? look : null,
    page: page >= 1 ? Math.min(page, MOST_PAGES) : 1,
  }
}

/** Inverse of `orderName`. */
export function orderFromName(name: string | null): FolderOrder | null {
  const [sort, order] = (name ?? '').split('-')
  const known = sortNamed(sort ?? null)
  return known === null ? null : orderOf(known, orderNamed(order ?? null))
}

export function orderName({ sort, order }: FolderOrder): string {
  return `${sort}-${order}`
}

function orderOf(sort: FileSort, order: FolderOrder['order'] | null): FolderOrder {
  return { sort, order: order ?? ORDERS[sort] }
}

function sortNamed(text: string | null): FileSort | null {
  return FILE_SORTS.find((sort) => sort === text) ?? null
}

function orderNamed(text: string | null): FolderOrder['order'] | null {
  return text === 'asc' || text === 'desc' ? text : null
}

/** Download programs follow `?page=N` literally, so cookies hold order and view of several pages. */
export function pageAddress(page: number): string {
  return page === 1 ? '?' : `?page=${page}`
}

export function orderAddress({ sort, order, look }: FolderQuery): string {
  const query = new URLSearchParams({ sort })
  if (order !== ORDERS[sort]) query.set('order', order)
  if (look !== null) query.set('view', look)
  return `?${query}`
}

/** `pages`: a single page may have its order in the address. */
export function viewModeAddress(
  { page, sort, order }: FolderQuery,
  look: FolderViewMode,
  pages: number,
): string {
  const query = new URLSearchParams()
  if (pages === 1 && sort !== DEFAULT_QUERY.sort) query.set('sort', sort)
  if (pages === 1 && order !== ORDERS[sort]) query.set('order', order)
  query.set('view', look)
  if (page > 1) query.set('page', String(page))
  return `?${query}`
}

export function addressWithoutOrder({ page, look }: FolderQuery): string {
  const query = new URLSearchParams()
  if (look !== null) query.set('view', look)
  if (page > 1) query.set('page', String(page))
  return `?${query}`
}

/** Reverses the direction of the current order. Starts at the first page. */
export function sortedBy(query: FolderQuery, sort: FileSort): FolderQuery {
  const turned = query.order === 'asc' ? 'desc' : 'asc'
  return { ...query, page: 1, sort, order: sort === query.sort ? turned : ORDERS[sort] }
}

/** For a pager: the current page, its neighbours, first and last; null marks a gap. */
export function pagesAround(page: number, pages: number): (number | null)[] {
  const near = [page - 1, page, page + 1].filter((each) => each > 1 && each < pages)
  const shown = [1, ...near, ...(pages > 1 ? [pages] : [])]
  return shown.flatMap((each, at) => (each - (shown[at - 1] ?? each) > 1 ? [null, each] : [each]))
}
