/** Neighbours of a file on its folder's page, kept in this tab for previous and next. */

const KEY = 'files-of-folder'
const FILES = '.file-item > .file-link'

export interface NeighbouringFiles {
  readonly previous: string | null
  readonly next: string | null
}

/** Also after the browser restores the page from its cache. */
export function rememberFiles(page: Document): void {
  window.addEventListener('pageshow', () => noteFiles(page))
}

export function noteFiles(page: Document): void {
  const paths = [...page.querySelectorAll<HTMLAnchorElement>(FILES)].map(({ pathname }) => pathname)
  try {
    sessionStorage.setItem(KEY, paths.join('\n'))
  } catch {
    // Without storage there are no neighbours.
  }
}

/** Null unless this tab showed a folder with that file last. */
export function neighbouringFiles(path: string): NeighbouringFiles | null {
  const paths = remembered()
  const at = paths.indexOf(path)
  if (at === -1 || paths.length === 1) return null
  return { previous: paths[at - 1] ?? null, next: paths[at + 1] ?? null }
}

function remembered(): readonly string[] {
  try {
    return sessionStorage.getItem(KEY)?.split('\n') ?? []
  } catch {
    return []
  }
}
