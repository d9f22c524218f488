/** Asks for the next files, as when the viewer comes near the last one. */
export const WANT_FILES = 'want-files'
/** Tells that files were added to the page. */
export const FILES_ADDED = 'files-added'

/** Pages that are added to one, after which the pager leads on: a browser with all of a million files is slow. */
const MOST = 20
/** How far below the window the end of the list may be when the next page is asked for. */
const AHEAD = '1500px'

/** Makes one list of the pages of a folder: adds the next one as its end comes near. */
export function addFilesAsNeeded(): void {
  const isFirst = document.querySelector('.page-link[rel=prev]') === null
  let added = 0
  let isAdding = false
  const observer = new IntersectionObserver(
    (entries) => {
      if (entries.some(({ isIntersecting }) => isIntersecting)) void add()
    },
    { rootMargin: AHEAD },
  )
  const watch = () => {
    const pager = document.querySelector('.pager')
    observer.disconnect()
    // Watched anew, it tells whether it is near still.
    if (pager !== null && added < MOST) observer.observe(pager)
  }
  const add = async () => {
    const next = nextLink(document)
    if (next === null || isAdding || added >= MOST) return
    isAdding = true
    try {
      const response = await fetch(next.href, { headers: { Accept: 'text/html' } })
      if (!response.ok) return observer.disconnect()
      // Handlers are for programs alone, and the policy of the page forbids them.
      const html = (await response.text()).replaceAll(/ onclick="[^"]*"/g, '')
      append(new DOMParser().parseFromString(html, 'text/html'), isFirst)
      added += 1
      document.dispatchEvent(new Event(FILES_ADDED))
      watch()
    } catch {
      // The pager still leads on.
      observer.disconnect()
    } finally {
      isAdding = false
    }
  }
  document.addEventListener(WANT_FILES, () => void add())
  watch()
}

function nextLink(page: Document): HTMLAnchorElement | null {
  return page.querySelector<HTMLAnchorElement>('.page-link[rel=next]')
}

function append(page: Document, isFirst: boolean): void {
  const pager = document.querySelector('.pager')
  if (pager === null) return
  document.querySelector('.subfolders')?.append(...page.querySelectorAll('.subfolders > li'))
  const files = document.querySelector('.files')
  if (files === null) {
    document.querySelector('.to-files')?.remove()
    pager.before(...page.querySelectorAll('#save, .folder-bar, .files'))
  } else {
    // A file that came meanwhile has moved others to the next page.
    const known = new Set([...files.querySelectorAll('.file-link')].map((link) => link.getAttribute('href')))
    files.append(
      ...[...page.querySelectorAll('.file-item')].filter(
        (item) => !known.has(item.querySelector('.file-link')?.getAttribute('href') ?? null),
      ),
    )
  }
  const rest = page.querySelector('.pager')
  if (rest === null || (isFirst && nextLink(page) === null)) pager.remove()
  else pager.replaceWith(rest)
}
