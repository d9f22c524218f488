import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { openPage, type Visit } from './browser.ts'
import type { Visitor } from './site-visitor.ts'

/** Lets the page go on as whoever has signed in elsewhere. */
export async function goOnAs(page: Page, home: string, { cookies }: Visitor): Promise<void> {
  const kept = [...cookies].map(([name, value]) => ({ name, value, url: home }))
  await page.context().addCookies(kept)
}

/** A new page, as `openPage` makes them, where that person is signed in. */
export async function openPageAs(
  browser: Browser,
  home: string,
  person: Visitor,
  options: BrowserContextOptions = {},
): Promise<Visit> {
  const visit = await openPage(browser, home, options)
  await goOnAs(visit.page, home, person)
  return visit
}
