/** The file manager with more files than are looked at, or may be asked for, at once. */
// Only in test:all: thousands of rows.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Download, Page } from 'playwright-core'
import { z } from 'zod'
import { describeInBrowser } from '../support/browser/browser.ts'
import { type FilesOwner, filesOwner, openFilesPage } from '../support/browser/files-page.ts'
import { GENEROUS, makeFolder, upload } from '../support/clients/public.ts'
import { addCopies } from '../support/contents/file-copies.ts'
import { eventually } from '../support/eventually.ts'
import { startHoldfast, type TestHoldfast } from '../support/servers/holdfast.ts'

const MANY = 100_000
/** From one stop to the next. */
const FRAMES = 60

const scrolled = z.object({
  /** Milliseconds of each. */
  frames: z.array(z.number()),
  /** Frames in which a place of the list had neither an entry nor what stands for one that comes. */
  blank: z.number(),
  /** Frames in which something stood for what comes. */
  coming: z.number(),
  mostLines: z.number(),
})
const inView = z.object({
  coming: z.number(),
  entries: z.array(z.object({ row: z.number(), name: z.string() })),
})

const nameOf = (row: number) =>
  row === MANY - 1 ? 'first.txt' : `file ${String(row + 1).padStart(6, '0')}.txt`

describeInBrowser('the file manager with many files', (browser) => {
  let host: TestHoldfast
  let owner: FilesOwner
  beforeAll(async () => {
    host = await startHoldfast(GENEROUS)
    owner = await filesOwner(host)
    const original = await upload(host, { key: owner.key, name: 'first.txt' })
    await addCopies(host.database, original.file_id, MANY - 1, nameOf)
  }, 300_000)
  afterAll(() => host.stop())

  /** Scrolls on by half the list: there is something in every frame, and what stays in view has come. */
  async function scrollHalf(page: Page, look: string): Promise<void> {
    const seen = scrolled.parse(await page.evaluate(`(${scrollOn})(${FRAMES})`))
    const sorted = seen.frames.toSorted((one, other) => one - other)
    const at = (share: number) => Math.round(sorted[Math.floor((sorted.length - 1) * share)] ?? 0)
    console.info(
      `${look}: ${FRAMES} frames, ms: median ${at(0.5)}, 95 % ${at(0.95)}, longest ${at(1)}; ` +
        `${seen.coming} with placeholders, ${seen.mostLines} lines at most`,
    )
    expect(seen.frames).toHaveLength(FRAMES)
    expect(seen.blank).toBe(0)
    expect(seen.mostLines).toBeLessThan(60)
    let view = inView.parse(await page.evaluate(readView))
    await eventually('what is in view has come', async () => {
      view = inView.parse(await page.evaluate(readView))
      return view.coming === 0
    })
    const [first] = view.entries
    expect(view.entries.length).toBeGreaterThan(8)
    expect(view.entries).toEqual(
      view.entries.map((_, index) => {
        const row = (first?.row ?? 0) + index
        return { row, name: nameOf(row) }
      }),
    )
  }

  test('scrolls, finds and selects as with ten', async () => {
    await using files = await openFilesPage(browser(), owner)
    const { page } = files
    await page.getByText('100,000 items').waitFor()
    await scrollHalf(page, 'list')
    await scrollHalf(page, 'list')
    await files.row('first.txt').waitFor()
    await files.button('View: Tiles').click()
    await page.evaluate("document.querySelector('.entries').scrollTop = 0")
    await files.row(nameOf(0)).waitFor()
    await scrollHalf(page, 'tiles')
    await scrollHalf(page, 'tiles')
    await files.row('first.txt').waitFor()
    await files.button('View: List').click()

    await files.press('Tab')
    await page.evaluate("document.querySelector('.entries').scrollTop = 1e9")
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
  }, 120_000)

  test('downloads all of a folder however much it is, and says of how much of it not', async () => {
    const own = await filesOwner(host)
    const folder = await makeFolder(host, own.key, { name: 'Records' })
    const original = await upload(host, { key: own.key, folder, name: 'record.txt' })
    await addCopies(host.database, original.file_id, 201, (number) => `record ${number}.txt`)
    await using files = await openFilesPage(browser(), own, { path: `/files/${folder}` })
    const { page } = files
    const downloads: Download[] = []
    page.on('download', (download) => downloads.push(download))
    const zip = files.button('Download as ZIP')

    await page.locator('[data-row="0"]').click()
    await files.press('Control+a')
    await page.getByText('202 selected').waitFor()
    await zip.click()
    await eventually('a zip comes', () => downloads.length === 1)
    expect(downloads[0]?.suggestedFilename()).toBe('Records.zip')
    expect(await entriesOf(downloads[0])).toBe(202)

    await page.locator('[data-row="1"]').click({ modifiers: ['Control'] })
    await page.getByText('201 selected').waitFor()
    await zip.click()
    await files.says('At most 200 files and folders can be chosen for one ZIP')
    // What is found may be in any folder, so that none has a zip of it.
    await page.goto(`/files/${folder}`)
    await page.getByRole('searchbox').fill('.txt')
    await page.getByText('202 found').waitFor()
    await page.locator('[data-row="0"]').click()
    await files.press('Control+a')
    await page.getByText('202 selected').waitFor()
    await zip.click()
    await files.says('At most 200 files and folders can be chosen for one ZIP')
    expect(downloads).toHaveLength(1)

    // All that there is may also be selected one by one.
    await page.getByRole('searchbox').fill('')
    await page.getByText('202 items').waitFor()
    await page.locator('[data-row="0"]').click()
    await files.press('Shift+End')
    await page.getByText('202 selected').waitFor()
    await zip.click()
    await eventually('another zip comes', () => downloads.length === 2)
    expect(downloads[1]?.suggestedFilename()).toBe('Records.zip')
    expect(files.trouble()).toEqual([])
  })
})

/** How many entries a zip says that it has, in its last record. */
async function entriesOf(download: Download | undefined): Promise<number> {
  const bytes = Buffer.from(await Bun.file((await download?.path()) ?? '').arrayBuffer())
  return bytes.readUInt16LE(bytes.length - 22 + 10)
}

/** Runs in the page. It scrolls between frames, as people do, and looks at what each is going to show. */
const scrollOn = `(count) => new Promise((resolve) => {
  const list = document.querySelector('.entries')
  const { left, top, height, bottom } = list.getBoundingClientRect()
  const head = list.querySelector('.list-head')?.offsetHeight ?? 0
  const step = (list.scrollHeight - list.clientHeight) / 2 / count
  const seen = { frames: [], blank: 0, coming: 0, mostLines: 0 }
  const isThere = (y) => {
    const line = document.elementFromPoint(left + 100, y)?.closest('.entries-space > *')
    return line != null && line.childElementCount > 0
  }
  let before = performance.now()
  const look = (now) => {
    seen.frames.push(now - before)
    before = now
    let isBlank = false
    for (let y = top + head + 10; y < bottom - 10; y += 20) isBlank ||= !isThere(y)
    if (isBlank) seen.blank++
    if (list.querySelector('.line-coming, .tile-coming') !== null) seen.coming++
    seen.mostLines = Math.max(seen.mostLines, list.querySelectorAll('.entries-space > *').length)
    if (seen.frames.length === count) resolve(seen)
    else setTimeout(go)
  }
  const go = () => {
    list.scrollTop += step
    requestAnimationFrame(look)
  }
  go()
})`

/** Runs in the page. */
const readView = `(() => {
  const list = document.querySelector('.entries')
  const { top, bottom } = list.getBoundingClientRect()
  const isIn = (it) => it.getBoundingClientRect().bottom > top && it.getBoundingClientRect().top < bottom
  const all = (selector) => [...list.querySelectorAll(selector)].filter(isIn)
  return {
    coming: all('.line-coming, .tile-coming').length,
    entries: all('[data-row]').map((it) => ({
      row: Number(it.dataset.row),
      name: it.querySelector('.name').textContent,
    })),
  }
})()`
