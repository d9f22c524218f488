/** Which files stand beside one on the page of its folder: kept in this tab, so that one leads on to the next. */

const KEY = 'files-of-folder'
const FILES = '.file-item > .file-link'

export interface NeighbouringFiles {
  /** Paths of their pages; null at an end. */
  readonly previous: string | null
  readonly next: string | null
}

/** Keeps the order of the files on this page, also when the browser brings the page back without loading it. */
export function rememberFiles(page: Document): void {
  window.addEventListener('pageshow', () => {
    const paths = [...page.querySelectorAll<HTMLAnchorElement>(FILES)].map(({ pathname }) => pathname)
    try {
      sessionStorage.setItem(KEY, paths.join('\n'))
    } catch {
      // Without storage the page of the folder is the way to the next file.
    }
  })
}

/** null: this tab did not show a folder with that file last. */
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
