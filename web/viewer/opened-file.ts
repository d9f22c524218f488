import type { FilePageData } from '../file/data.ts'
import { dataOf } from '../shared/public-page-data.ts'

/** A file's own page, as the server renders it for whoever looks: it counts the view, and checks who may. */
export interface OpenedFile {
  readonly page: FilePageData
  readonly document: Document
}

const opened = new Map<string, Promise<OpenedFile | null>>()

/** Null where the page shows no file, such as one that is gone or locked by now. Keeps answers. */
export function openFile(path: string): Promise<OpenedFile | null> {
  const known = opened.get(path)
  if (known !== undefined) return known
  const opening = load(path)
  opened.set(path, opening)
  opening.catch(() => opened.delete(path))
  return opening
}

/** Signed addresses on the pages end in time. */
export function forgetFiles(): void {
  opened.clear()
}

async function load(path: string): Promise<OpenedFile | null> {
  const response = await fetch(path, { headers: { Accept: 'text/html' } })
  const page = new DOMParser().parseFromString(await response.text(), 'text/html')
  const data = dataOf<FilePageData>(page)
  if (data === null || page.querySelector('#detailsContent') === null) return null
  return { page: data, document: page }
}
