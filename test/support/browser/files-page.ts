/** The file manager in a browser. */
import type { Browser, BrowserContextOptions, Locator } from 'playwright-core'
import { type Caller, caller } from '../clients/caller.ts'
import { signedIn } from '../clients/site-visitor.ts'
import { eventually } from '../eventually.ts'
import type { TestHoldfast } from '../servers/holdfast.ts'
import { openPage, type Visit } from './browser.ts'

export interface FilesPage extends Visit {
  /** Row of an entry; does not wait. */
  row(name: string): Locator
  /** Visible names in order. */
  names(): Promise<string[]>
  /** Waits until exactly these names are visible. */
  lists(...names: readonly string[]): Promise<void>
  press(...keys: readonly string[]): Promise<void>
  /** Waits for a notice with that text. */
  says(text: string): Promise<void>
  button(name: string): Locator
  /** The link to all uploads. */
  uploads(): Locator
}

/** A signed-in user with files. */
export interface FilesOwner {
  readonly url: string
  readonly key: string
  readonly username: string
  /** Cookies of the user's session. */
  readonly cookies: ReadonlyMap<string, string>
  readonly api: Caller
}

export async function filesOwner(host: TestHoldfast): Promise<FilesOwner> {
  const { apiKey: key, username } = await host.addAccount()
  const { cookies } = await signedIn(host, username)
  return { url: host.url, key, username, cookies, api: caller(host.url, key) }
}

/** Opens the file manager in a browser with the user's session. */
export async function openFilesPage(
  browser: Browser,
  { url, cookies }: Pick<FilesOwner, 'url' | 'cookies'>,
  { path = '/files', ...options }: { path?: string } & BrowserContextOptions = {},
): Promise<FilesPage> {
  const visit = await openPage(browser, url, options)
  await visit.page.context().addCookies([...cookies].map(([name, value]) => ({ name, value, url })))
  await visit.page.goto(path)
  return filesPageIn(visit)
}

/** Wraps the file manager that a visit has opened. */
export async function filesPageIn(visit: Visit): Promise<FilesPage> {
  const { page } = visit
  await page.locator('[role="grid"], .empty-list').first().waitFor()
  const names = () => page.locator('[data-row] .name').allTextContents()
  return {
    ...visit,
    row: (name) => page.locator('[data-row]').filter({ has: page.getByTitle(name, { exact: true }) }),
    names,
    async lists(...wanted) {
      await eventually(
        `it lists ${wanted.join(', ')}`,
        async () => Bun.deepEquals(await names(), wanted),
        10,
      ).catch(async (error: unknown) => {
        throw new Error(`it lists ${(await names()).join(', ')}`, { cause: error })
      })
    },
    async press(...keys) {
      for (const one of keys) await page.keyboard.press(one)
    },
    says: (text) => page.locator('.notice').filter({ hasText: text }).waitFor({ timeout: 10_000 }),
    button: (name) => page.getByRole('button', { name, exact: true }),
    uploads: () => page.locator('.uploads-button'),
  }
}
