import type { FolderPageData } from './data.ts'
import { VIEWED } from './viewed.ts'

const LINKS = '.file-item > .file-link'

/** Opens files over the page of their folder. A link that is opened in another way leads to the file's page. */
export function openInViewer(page: FolderPageData): void {
  const { viewerStyles } = page
  if (viewerStyles === null) return
  let loading: Promise<typeof import('../viewer/viewer.ts')> | null = null
  const load = () => {
    loading ??= Promise.all([import('../viewer/viewer.ts'), ...viewerStyles.map(addStyle)]).then(
      ([viewer]) => viewer,
    )
    return loading
  }
  const open = async (link: HTMLAnchorElement, isReturning: boolean) => {
    try {
      const { openViewer } = await load()
      openViewer(link, page, isReturning)
    } catch (error) {
      // Such as a part of the site that an update has replaced.
      console.error(error)
      location.assign(link.href)
    }
  }
  // A finger or a pointer over the files is about to open one.
  for (const sign of ['pointerover', 'focusin']) {
    document
      .querySelector('.files')
      ?.addEventListener(sign, () => void load().catch(() => {}), { once: true })
  }
  document.addEventListener('click', (event) => {
    if (event.defaultPrevented || event.button !== 0) return
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return
    const link = event.target instanceof Element ? event.target.closest(LINKS) : null
    if (!(link instanceof HTMLAnchorElement)) return
    event.preventDefault()
    void open(link, false)
  })
  // Forward, after Back has closed the viewer.
  window.addEventListener('popstate', ({ state }) => {
    if (state !== VIEWED) return
    const link = [...document.querySelectorAll<HTMLAnchorElement>(LINKS)].find(
      ({ pathname }) => pathname === location.pathname,
    )
    if (link === undefined) location.reload()
    else void open(link, true)
  })
}

function addStyle(address: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const style = document.createElement('link')
    style.rel = 'stylesheet'
    style.href = address
    style.onload = () => resolve()
    style.onerror = () => reject(new Error(`${address} cannot be loaded`))
    document.head.append(style)
  })
}
