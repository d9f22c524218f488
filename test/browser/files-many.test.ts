/** The file manager with a folder of 100,000 files. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { z } from 'zod'
import { describeInBrowser } from '../support/browser.ts'
import { addCopies } from '../support/file-copies.ts'
import { openFilesPage } from '../support/files-page.ts'
import { startHoldfast, type TestHoldfast } from '../support/holdfast.ts'
import { GENEROUS, upload } from '../support/public.ts'

const MANY = 100_000
const FRAMES = 120

const scrolled = z.object({ frames: z.number(), blank: z.number(), mostLines: z.number() })

describeInBrowser('the file manager with 100,000 files', (browser) => {
  let host: TestHoldfast
  let key: string
  beforeAll(async () => {
    host = await startHoldfast(GENEROUS)
    key = (await host.addAccount()).apiKey
    const original = await upload(host, { key, name: 'first.txt' })
    const nameOf = (number: number) => `file ${String(number + 1).padStart(6, '0')}.txt`
    await addCopies(host.database, original.file_id, MANY - 1, nameOf)
  }, 120_000)
  afterAll(() => host.stop())

  test('scrolls, finds and selects as with ten', async () => {
    await using files = await openFilesPage(browser(), { url: host.url, key })
    const { page } = files
    await page.getByText('100,000 entries').waitFor()
    // From one end to the other: lines are there in every frame, and never more than a screen and some of them.
    const seen = scrolled.parse(await page.evaluate(`(${scrollThrough})(${FRAMES})`))
    expect(seen.frames).toBe(FRAMES)
    expect(seen.blank).toBe(0)
    expect(seen.mostLines).toBeLessThan(60)
    await files.row('first.txt').waitFor()

    await files.row('first.txt').click()
    await files.press('Home')
    await files.row('file 000001.txt').and(page.locator(':focus')).waitFor()
    await files.press('End')
    await files.row('first.txt').and(page.locator(':focus')).waitFor()
    await files.press('Shift+PageUp', 'Control+a')
    await page.getByText('100,000 selected').waitFor()
    await files.press('Escape')

    await page.getByRole('searchbox').fill('077777')
    await files.lists('file 077777.txt')
    await page.getByRole('searchbox').fill('')
    await files.button('Name').click()
    await files.row('first.txt').waitFor()
    expect(files.trouble()).toEqual([])
  })
})

/** Runs in the page. */
const scrollThrough = `(frames) => new Promise((resolve) => {
  const list = document.querySelector('.entries')
  const box = list.getBoundingClientRect()
  const step = (list.scrollHeight - list.clientHeight) / frames
  const seen = { frames: 0, blank: 0, mostLines: 0 }
  const look = () => {
    const middle = document.elementFromPoint(box.left + 100, box.top + box.height / 2)
    if (middle?.closest('.entries-space > .line') == null) seen.blank++
    seen.mostLines = Math.max(seen.mostLines, list.querySelectorAll('.entries-space > .line').length)
    seen.frames++
    if (seen.frames === frames) return resolve(seen)
    list.scrollTop += step
    requestAnimationFrame(look)
  }
  list.scrollTop += step
  requestAnimationFrame(look)
})`
