/** How often the server is asked, in milliseconds. */
const EVERY = 2000

/**
 * Keeps the element with `data-live` as the server has it now, while somebody may see it. When the page has none any
 * more, it is another page, which is loaded.
 */
export function keepLive(): void {
  const live = document.querySelector('[data-live]')
  if (live !== null) setTimeout(look, EVERY, live)
}

async function look(live: Element): Promise<void> {
  if (document.visibilityState === 'visible') {
    const page = await presentPage()
    const present = page?.querySelector('[data-live]')
    if (present != null) live.replaceChildren(...present.childNodes)
    else if (page !== null) {
      location.reload()
      return
    }
  }
  setTimeout(look, EVERY, live)
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
