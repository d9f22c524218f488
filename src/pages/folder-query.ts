import { wholeNumber } from '../domain/whole-number.ts'
/** Sort orders as they are offered. */
export const FILE_SORTS = ['name', 'size', 'created_at', 'downloads'] as const
export type FileSort = (typeof FILE_SORTS)[number]

export type FolderViewMode = 'list' | 'gallery'

export interface FolderOrder {
  readonly sort: FileSort
  readonly order: 'asc' | 'desc'
}

/** What a folder page shows. */
export interface FolderQuery extends FolderOrder {
  /** Page number from 1. */
  readonly page: number
  /** null: the default. */
  readonly look: FolderViewMode | null
}

export const DEFAULT_QUERY: FolderQuery = { page: 1, sort: 'name', order: 'asc', look: null }

/** Default direction: names ascending, everything else descending. */
const ORDERS = { name: 'asc', size: 'desc', created_at: 'desc', downloads: 'desc' } as const satisfies Record<
  FileSort,
  FolderQuery['order']
>

/** Upper bound for page numbers, beyond any folder's. */
const MOST_PAGES = 1_000_000

/**
 * The sort order in the address, or null. Invalid values are ignored, so that a truncated address still opens.
 */
export function askedOrder(query: URLSearchParams): FolderOrder | null {
  const sort = sortNamed(query.get('sort'))
  const order = orderNamed(query.get('order'))
  return sort === null && order === null ? null : orderOf(sort ?? DEFAULT_QUERY.sort, order)
}

/** `remembered`: the order of this browser's last visit, which applies where the address has none. */
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

/** Reads what `orderName` returned. */
export function orderFromName(name: string | null): FolderOrder | null {
  const [sort, order] = (name ?? '').split('-')
  const known = sortNamed(sort ?? null)
  return known === null ? null : orderOf(known, orderNamed(order ?? null))
}

/** `size-desc`. */
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

/**
 * Relative address of a page, which is `?page=N` and nothing else in every order and view: download programs
 * follow that literally. A folder of several pages therefore has its order and view in cookies.
 */
export function pageAddress(page: number): string {
  return page === 1 ? '?' : `?page=${page}`
}

/** Relative address of the first page in that order. */
export function orderAddress({ sort, order, look }: FolderQuery): string {
  const query = new URLSearchParams({ sort })
  if (order !== ORDERS[sort]) query.set('order', order)
  if (look !== null) query.set('view', look)
  return `?${query}`
}

/** Relative address of this page in another view. `pages`: a single page may have its order in the address. */
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

/** Relative address of the same page without the order. */
export function addressWithoutOrder({ page, look }: FolderQuery): string {
  const query = new URLSearchParams()
  if (look !== null) query.set('view', look)
  if (page > 1) query.set('page', String(page))
  return `?${query}`
}

/**
 * The query with that sort order, or with the direction reversed if it already has it. Starts at the first
 * page.
 */
export function sortedBy(query: FolderQuery, sort: FileSort): FolderQuery {
  const turned = query.order === 'asc' ? 'desc' : 'asc'
  return { ...query, page: 1, sort, order: sort === query.sort ? turned : ORDERS[sort] }
}

/** Page numbers for a pager: the current one, its neighbours, first and last; null marks a gap. */
export function pagesAround(page: number, pages: number): (number | null)[] {
  const near = [page - 1, page, page + 1].filter((each) => each > 1 && each < pages)
  const shown = [1, ...near, ...(pages > 1 ? [pages] : [])]
  return shown.flatMap((each, at) => (each - (shown[at - 1] ?? each) > 1 ? [null, each] : [each]))
}
