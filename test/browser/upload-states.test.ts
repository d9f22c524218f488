/** What people are told when an upload does not move: the cause, and what helps. */
// Only in test:all: start.test.ts works on the same page.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { describeInBrowser } from '../support/browser/browser.ts'
import { filesOwner, openFilesPage } from '../support/browser/files-page.ts'
import { chosenFile, openStartPage } from '../support/browser/start-page.ts'
import { eventually } from '../support/eventually.ts'
import { startHoldfast, type TestHoldfast } from '../support/servers/holdfast.ts'

const MIB = 1024 ** 2

describeInBrowser('an upload that does not move', (browser) => {
  let host: TestHoldfast
  beforeAll(async () => {
    host = await startHoldfast({ storageLimit: MIB, maxFileSize: 2 * MIB })
  })
  afterAll(() => host.stop())

  /** From now on the server answers new uploads so; `works` lets them through. */
  async function answering(page: Page) {
    interface Refused {
      readonly status: number
      readonly error: string
      readonly reason?: string
      readonly retryAfter?: string
    }
    let now: Refused | 'dead' | 'silent' | 'works' = 'works'
    await page.route('**/api/v1/uploads', async (route) => {
      if (now === 'works') return route.continue()
      if (now === 'dead') return route.abort('connectionrefused')
      if (now === 'silent') return
      const { status, error, reason, retryAfter } = now
      const headers = { 'Retry-After': retryAfter ?? '0' }
      await route.fulfill({ status, headers, json: { success: false, message: '', error, reason } })
    })
    return (next: typeof now) => {
      now = next
    }
  }

  test('says why on the start page, never that it is uploading, and goes on when it can', async () => {
    await using start = await openStartPage(browser(), host.url)
    const { page } = start
    const answer = await answering(page)
    const heading = () => page.locator('.panel-head h1').textContent()
    const film = start.upload('film.mkv')
    const says = async (text: string) => {
      await film.row.getByText(text).waitFor()
      expect(await heading()).toBe('1 upload is waiting')
      expect(await page.title()).toStartWith('1 upload is waiting')
    }
    answer({ status: 503, error: 'STORAGE_UNAVAILABLE', reason: 'full', retryAfter: '60' })
    await start.choose(chosenFile('film.mkv', Buffer.alloc(5000)))
    await says('The server has no free space. It keeps trying by itself')
    answer({ status: 503, error: 'STORAGE_UNAVAILABLE', reason: 'guests', retryAfter: '60' })
    await film.press('Try now')
    await says('The space for uploads without an account is used up.')
    answer({ status: 503, error: 'STORAGE_UNAVAILABLE', reason: 'away', retryAfter: '60' })
    await film.press('Try now')
    await says('The server cannot reach its storage.')
    answer('dead')
    await film.press('Try now')
    await says('The server cannot be reached.')
    answer({ status: 503, error: 'SHUTTING_DOWN' })
    await film.press('Try now')
    await says('The server is restarting.')
    answer({ status: 500, error: 'INTERNAL_ERROR' })
    await film.press('Try now')
    await says('Something went wrong on the server.')
    await page.context().setOffline(true)
    answer('works')
    await film.press('Try now')
    await says('You are offline.')
    await page.context().setOffline(false)
    await film.is('done')
    expect(await heading()).toBe('1 file is safe on the server')
    answer('silent')
    await start.choose(chosenFile('slow.mkv', Buffer.alloc(10)))
    await start.upload('slow.mkv').row.getByText('Waiting for the server to answer').waitFor()
  }, 120_000)

  test('is seen in the file manager when it is refused, with the reason and what helps', async () => {
    const owner = await filesOwner(host)
    await using files = await openFilesPage(browser(), owner)
    const { page } = files
    await page.locator('.upload-field').setInputFiles(chosenFile('film.mkv', Buffer.alloc(1.5 * MIB)))
    await files.uploads().getByText('Your storage is full').waitFor()
    expect(await files.uploads().textContent()).toContain('1 file not uploaded')
    await files.uploads().click()
    const dialog = page.getByRole('dialog', { name: 'Uploads' })
    expect(await dialog.getByRole('link', { name: 'See what takes up space' }).getAttribute('href')).toBe(
      '/settings',
    )
    await dialog.getByRole('button', { name: 'Remove from list: film.mkv' }).click()
    await dialog.getByRole('button', { name: 'Close' }).click()
    await eventually('nothing is told any more', async () => {
      return !(await files.uploads().textContent())?.includes('not uploaded')
    })
    await page.locator('.upload-field').setInputFiles(chosenFile('large.mkv', Buffer.alloc(2 * MIB + 1)))
    await files.uploads().getByText('This file is 2 MB; the limit is 2 MB.').waitFor()
  })

  test('of a hundred and twenty files leaves the page readable', async () => {
    await using start = await openStartPage(browser(), host.url)
    const { page } = start
    const answer = await answering(page)
    answer({ status: 503, error: 'STORAGE_UNAVAILABLE', retryAfter: '60' })
    const all = Array.from({ length: 120 }, (_, at) => chosenFile(`${at}.txt`, Buffer.from(`${at}`)))
    await start.choose(...all)
    await page.getByRole('heading', { name: '120 uploads are waiting' }).waitFor()
    expect(await page.locator('.upload').count()).toBe(120)
    // What matters is above them.
    const link = await page.locator('.link-card').boundingBox()
    expect((link?.y ?? 0) + (link?.height ?? 0)).toBeLessThan(400)
  })
})
