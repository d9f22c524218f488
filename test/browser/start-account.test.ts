/** The start page for somebody who is signed in: what they put there is theirs. */
// Only in test:all: start.test.ts works on the same page.
import { expect, test } from 'bun:test'
import type { BrowserContextOptions } from 'playwright-core'
import type { Config } from '../../src/config.ts'
import { describeInBrowser, openPage } from '../support/browser/browser.ts'
import { chosenFile, fileIn, slugOf, startPageIn } from '../support/browser/start-page.ts'
import { chance } from '../support/chance.ts'
import { type Caller, caller, readBack, sha256 } from '../support/clients/caller.ts'
import { GENEROUS } from '../support/clients/public.ts'
import { signedIn } from '../support/clients/site-visitor.ts'
import { temporaryFolder } from '../support/processes/child.ts'
import { startHoldfast } from '../support/servers/holdfast.ts'

const MIB = 1024 ** 2

interface Signed extends AsyncDisposable {
  readonly url: string
  readonly account: Caller
  open(options?: BrowserContextOptions): ReturnType<typeof openPage>
}

describeInBrowser('the start page of somebody who is signed in', (browser) => {
  const random = chance(34)

  /** A server where somebody has an account, and their browser. */
  async function somebodyAt(settings: Partial<Config>): Promise<Signed> {
    const host = await startHoldfast({ ...GENEROUS, sessionRateLimit: 1_000_000, ...settings })
    const { username, apiKey } = await host.addAccount()
    const { cookies } = await signedIn(host, username)
    return {
      url: host.url,
      account: caller(host.url, apiKey),
      async open(options = {}) {
        const visit = await openPage(browser(), host.url, options)
        const kept = [...cookies].map(([name, value]) => ({ name, value, url: host.url }))
        await visit.page.context().addCookies(kept)
        return visit
      },
      [Symbol.asyncDispose]: () => host.stop(),
    }
  }

  test('puts files into the account, with guests and without', async () => {
    for (const guestUploads of [true, false]) {
      await using person = await somebodyAt({ guestUploads })
      await using start = await startPageIn(await person.open())
      using folder = temporaryFolder()
      const bytes = random.bytes(3 * MIB)
      await start.drop([await fileIn(folder.path, 'film.mkv', bytes)])
      const film = start.upload('film.mkv')
      await film.is('done')
      const link = await film.link()
      expect(await readBack(person.url, slugOf(link))).toEqual({ size: bytes.length, sha256: sha256(bytes) })
      const files = await person.account.files()
      expect(files).toMatchObject([{ slug: slugOf(link), name: 'film.mkv', size: bytes.length }])
      expect(files[0]?.folder).not.toBe('root')
      expect((await fetch(await start.transferLink())).status).toBe(200)
      await start.page.getByRole('button', { name: 'Stop sharing' }).click()
      await start.page.locator('.popover:popover-open').getByRole('button', { name: 'Stop sharing' }).click()
      await start.page.locator('.upload').waitFor({ state: 'detached' })
      expect((await fetch(link)).status).toBe(404)
      expect(await person.account.files()).toHaveLength(1)
      expect(start.trouble()).toEqual([])
    }
  })

  test('puts a file into the account where there is no script', async () => {
    await using person = await somebodyAt({ guestUploads: false })
    await using visit = await person.open({ javaScriptEnabled: false })
    await visit.page.goto('/')
    await visit.page.getByLabel('File').setInputFiles(chosenFile('plain.bin', random.bytes(5000)))
    await visit.page.getByRole('button', { name: 'Upload and get a link' }).click()
    await visit.page.waitForURL('**/l/*')
    const [file, ...others] = await person.account.files()
    expect([file?.name, file?.size, others]).toEqual(['plain.bin', 5000, []])
  })

  test('says that there is no room, and tries again when there is', async () => {
    await using person = await somebodyAt({ storageLimit: 3 * MIB, maxFileSize: 3 * MIB })
    const { slug } = await person.account.upload(random.bytes(2 * MIB), 'old.bin')
    await using start = await startPageIn(await person.open())
    await start.choose(chosenFile('new.bin', random.bytes(2 * MIB)))
    const file = start.upload('new.bin')
    await file.is('failed')
    expect(await file.row.textContent()).toContain('Your storage is full: there is no space for these 2 MB.')
    await person.account.deleteFiles([slug])
    await file.press('Try again')
    await file.is('done')
    expect((await person.account.files()).map(({ name }) => name)).toEqual(['new.bin'])
  })
})
