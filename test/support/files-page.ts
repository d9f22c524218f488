/** The file manager in a browser, as a person uses it. */
import type { Browser, BrowserContextOptions, Locator } from 'playwright-core'
import { openPage, type Visit } from './browser.ts'
import { type Caller, caller } from './caller.ts'
import { eventually } from './eventually.ts'
import type { TestHoldfast } from './holdfast.ts'
import { signedIn } from './site-visitor.ts'

export interface FilesPage extends Visit {
  /** The row of an entry; waits for none. */
  row(name: string): Locator
  /** The names in view, in order. */
  names(): Promise<string[]>
  /** Waits until these are the names in view. */
  lists(...names: readonly string[]): Promise<void>
  press(...keys: readonly string[]): Promise<void>
  /** Waits until a notice says it. */
  says(text: string): Promise<void>
  button(name: string): Locator
  /** What leads to all uploads. */
  uploads(): Locator
}

/** Somebody with files who is signed in. */
export interface FilesOwner {
  readonly url: string
  readonly key: string
  readonly username: string
  /** Of their session. */
  readonly cookies: ReadonlyMap<string, string>
  readonly api: Caller
}

export async function filesOwner(host: TestHoldfast): Promise<FilesOwner> {
  const { apiKey: key, username } = await host.addAccount()
  const { cookies } = await signedIn(host, username)
  return { url: host.url, key, username, cookies, api: caller(host.url, key) }
}

/** A window of somebody's, in a browser that they are signed in with. */
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

/** What a visit has come to. */
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
