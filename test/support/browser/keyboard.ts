import type { Locator, Page } from 'playwright-core'

/** Presses Tab until the element has the focus; throws when it never gets it. */
export async function tabTo(page: Page, field: Locator, most = 60): Promise<void> {
  for (let steps = 0; steps < most; steps++) {
    if ((await field.and(page.locator(':focus')).count()) > 0) return
    await page.keyboard.press('Tab')
  }
  throw new Error(`no tab leads to ${field}`)
}

/** Moves the focus there with Tab and presses Enter. */
export async function enterAt(page: Page, field: Locator, most?: number): Promise<void> {
  await tabTo(page, field, most)
  await page.keyboard.press('Enter')
}
