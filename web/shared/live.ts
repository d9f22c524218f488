/** Milliseconds: the first pause, doubled while nothing changes, and the longest. */
const [FIRST_PAUSE, LONGEST_PAUSE] = [2000, 15_000]

/** While the page is visible. When the answer has no `data-live`, the page is reloaded. */
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
      // Replaces only changed elements, which keeps the focus.
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

/** Null while the server is unreachable or busy. */
async function presentPage(): Promise<Document | null> {
  try {
    const response = await fetch(location.href, { headers: { Accept: 'text/html' }, cache: 'no-store' })
    if (response.status >= 500 || response.status === 429) return null
    return new DOMParser().parseFromString(await response.text(), 'text/html')
  } catch {
    return null
  }
}
