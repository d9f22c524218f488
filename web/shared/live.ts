/** Milliseconds between two questions to the server: the first pause, doubled while nothing changes, and the longest. */
const [FIRST_PAUSE, LONGEST_PAUSE] = [2000, 15_000]

/**
 * Keeps the elements with `data-live` as the server has them now, while somebody may see them. When the page has none any
 * more, it is another page, which is loaded.
 */
export function keepLive(): void {
  const live = liveOf(document)
  if (live.length > 0) setTimeout(look, FIRST_PAUSE, live, FIRST_PAUSE)
}

async function look(live: readonly Element[], pause: number): Promise<void> {
  let hasChanged = false
  if (document.visibilityState === 'visible') {
    const page = await presentPage()
    const present = page === null ? [] : liveOf(page)
    if (page !== null && present.length !== live.length) {
      location.reload()
      return
    }
    for (const [at, element] of live.entries()) {
      const now = present[at]
      // What is the same keeps the focus.
      if (now !== undefined && now.innerHTML !== element.innerHTML) {
        element.replaceChildren(...now.childNodes)
        hasChanged = true
      }
    }
  }
  const next = hasChanged ? FIRST_PAUSE : Math.min(LONGEST_PAUSE, pause * 2)
  setTimeout(look, next, live, next)
}

function liveOf(page: Document): readonly Element[] {
  return [...page.querySelectorAll('[data-live]')]
}

/** Null while the server cannot be reached, or is too busy. */
async function presentPage(): Promise<Document | null> {
  try {
    const response = await fetch(location.href, { headers: { Accept: 'text/html' }, cache: 'no-store' })
    if (response.status >= 500 || response.status === 429) return null
    return new DOMParser().parseFromString(await response.text(), 'text/html')
  } catch {
    return null
  }
}
