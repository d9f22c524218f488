/** Ways to the pages that are shown. */
import type { Browser, Page } from 'playwright-core'
import { launchChromium } from '../support/browser/browser.ts'
import type { Demo } from './demo.ts'
import { said, saidAlone } from './said.ts'
import type { StatesDemo } from './states-demo.ts'

/** The address that pages show; the browser finds the server behind it. */
export const SITE = 'http://files.example'

export interface State {
  readonly name: string
  /** Opens the page and brings it into the state that is to be seen. */
  show(page: Page, demo: StatesDemo): Promise<void>
}

export type Look = 'light' | 'dark'

export async function open(page: Page, path: string): Promise<void> {
  await page.goto(path, { waitUntil: 'networkidle' })
}

export async function openSignedIn(page: Page, path: string, whose: Pick<Demo, 'cookies'>): Promise<void> {
  await signIn(page, whose)
  await open(page, path)
}

export async function signIn(page: Page, { cookies }: Pick<Demo, 'cookies'>): Promise<void> {
  const url = new URL(SITE).href
  await page.context().addCookies([...cookies].map(([name, value]) => ({ name, value, url })))
}

/** The bin, which a narrow window shows among the folders. */
export async function openBin(page: Page): Promise<void> {
  const folders = page.getByRole('button', { name: said('Show folders') })
  if (await folders.isVisible()) await folders.click()
  await page
    .getByRole('button', { name: saidAlone('Bin') })
    .last()
    .click()
  await page.getByRole('dialog').getByText('Old boat.mp4').waitFor()
}

/** One that finds the site at the server, and trusts it as it would over HTTPS. */
export function browserAt({ host: server }: URL): Promise<Browser> {
  return launchChromium([
    `--host-resolver-rules=MAP files.example:80 ${server}`,
    `--unsafely-treat-insecure-origin-as-secure=${SITE}`,
    '--hide-scrollbars',
  ])
}
