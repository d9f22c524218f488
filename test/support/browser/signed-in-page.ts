import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import type { Visitor } from '../clients/site-visitor.ts'
import { openPage, type Visit } from './browser.ts'

/** Gives the page the session of a person who has signed in elsewhere. */
export async function goOnAs(page: Page, home: string, { cookies }: Visitor): Promise<void> {
  const kept = [...cookies].map(([name, value]) => ({ name, value, url: home }))
  await page.context().addCookies(kept)
}

/** Opens a page like `openPage`, with the person's session. */
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
