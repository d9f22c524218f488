/** The page of a file in a real browser: what it shows of every kind, and what can be done there. */
// Only in test:all: previews of every kind; site.test.ts opens the page.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Page, Route } from 'playwright-core'
import sharp from 'sharp'
import { encode } from 'uqr'
import {
  describeInBrowser,
  faultsInBothColours,
  openPage,
  PHONE,
  pixelsBeside,
  smallTargets,
  type Visit,
} from '../support/browser/browser.ts'
import {
  type Bytes,
  detail,
  GENEROUS,
  randomBytes,
  textBytes,
  type Uploaded,
  upload,
} from '../support/clients/public.ts'
import { decided } from '../support/clients/thumbnails.ts'
import { CORNERS, cornersOf, quarters } from '../support/contents/pictures.ts'
import { eventually } from '../support/eventually.ts'
import { startHoldfast, type TestHoldfast } from '../support/servers/holdfast.ts'
import { CODE, film, MARKDOWN, pdf, picture, scan, scannedPdf, silence, zip } from './shown-files.ts'

describeInBrowser(
  'the page of a file',
  (browser) => {
    let host: TestHoldfast
    let key: string
    beforeAll(async () => {
      host = await startHoldfast(GENEROUS)
      key = (await host.addAccount('owner')).apiKey
    })
    afterAll(() => host.stop())

    const put = (name: string, bytes: Bytes | string) =>
      upload(host, { key, name, bytes: typeof bytes === 'string' ? textBytes(bytes) : bytes })

    /** Opens the page of the file; the test ends with nothing having gone wrong there. */
    async function opened(
      file: Uploaded,
      work: (page: Page) => Promise<void>,
      options: Parameters<typeof openPage>[2] = {},
    ): Promise<void> {
      await using visit: Visit = await openPage(browser(), host.url, options)
      await visit.page.goto(`/d/${file.slug}`)
      await work(visit.page)
      expect(visit.trouble()).toEqual([])
    }

    test('shows a picture whole, and closer by keys, buttons, the wheel and the mouse', async () => {
      const file = await put('photograph.jpg', await picture(2400, 1600))
      await opened(file, async (page) => {
        const frame = page.getByRole('region', { name: 'photograph.jpg' })
        const image = frame.locator('img')
        await frame.waitFor()
        const widthOf = async () => (await image.boundingBox())?.width ?? 0
        const fitting = await widthOf()
        const room = await frame.boundingBox()
        expect(fitting).toBeLessThanOrEqual(room?.width ?? 0)
        await frame.press('+')
        expect(await widthOf()).toBeCloseTo(fitting * 1.5, 0)
        await page.getByRole('button', { name: 'Zoom in' }).click()
        expect(await widthOf()).toBeCloseTo(fitting * 2.25, 0)

        const before = await image.boundingBox()
        await frame.hover()
        await page.mouse.down()
        await page.mouse.move(300, 300)
        await page.mouse.move(260, 280)
        await page.mouse.up()
        expect(await image.boundingBox()).not.toEqual(before)

        await frame.press('0')
        expect(await widthOf()).toBeCloseTo(fitting, 0)
        await page.keyboard.down('Control')
        await page.mouse.wheel(0, -200)
        await page.keyboard.up('Control')
        await eventually('it has grown', async () => (await widthOf()) > fitting * 2)
        await page.getByRole('button', { name: 'Fit' }).click()
        expect(await widthOf()).toBeCloseTo(fitting, 0)
      })
    })

    test.each([
      ['photograph.jpg', () => picture(1200, 1200), 'img'],
      ['pages.pdf', async () => pdf(['Between two fingers']), '.pdf-page:has(canvas)'],
    ] as const)('grows %s between two fingers', async (name, made, part) => {
      const file = await put(name, await made())
      await opened(
        file,
        async (page) => {
          const image = page.getByRole('region').locator(part)
          await image.waitFor()
          const before = (await image.boundingBox())?.width ?? 0
          const session = await page.context().newCDPSession(page)
          const fingers = (type: 'touchStart' | 'touchMove' | 'touchEnd', places: readonly number[]) =>
            session.send('Input.dispatchTouchEvent', {
              type,
              touchPoints: places.map((x) => ({ x, y: 260 })),
            })
          await fingers('touchStart', [150, 210])
          await fingers('touchMove', [120, 240])
          await fingers('touchEnd', [])
          expect((await image.boundingBox())?.width ?? 0).toBeCloseTo(before * 2, 0)
          // A page is painted anew for its size, and stays.
          await image.waitFor()
        },
        PHONE,
      )
    })

    test('shows a picture that the browser cannot read by its thumbnail, and says so', async () => {
      const file = await put('scan.tiff', await scan(1200, 800))
      expect(await decided(host, key, file)).toBe('ready')
      await opened(file, async (page) => {
        await page.getByText('this is a smaller picture of it').waitFor()
        const image = page.getByRole('region', { name: 'scan.tiff' }).locator('img')
        expect(await image.evaluate((it: { naturalWidth: number }) => it.naturalWidth)).toBe(960)
      })
    })

    test('shows pictures as they are meant, whatever of their orientation the browser reads, with and without JavaScript', async () => {
      const wrong: unknown[] = []
      for (const kind of ['webp', 'jpeg', 'png', 'avif'] as const) {
        for (const orientation of kind === 'webp' ? [1, 2, 3, 4, 5, 6, 7, 8] : [6]) {
          const name = `turned-${orientation}.${kind}`
          const file = await put(name, await quarters(kind, orientation, [600, 400]))
          expect(await decided(host, key, file)).toBe('ready')
          for (const javaScriptEnabled of [true, false]) {
            await opened(
              file,
              async (page) => {
                if (javaScriptEnabled) await page.getByRole('region', { name }).waitFor()
                const { isTall, corners } = await seenOf(page)
                const meant = { isTall: orientation > 4, corners: CORNERS[orientation - 1] }
                if (isTall !== meant.isTall || corners !== meant.corners)
                  wrong.push({ name, javaScriptEnabled, isTall, corners, meant })
                expect(await page.getByRole('button', { name: 'View original' }).count()).toBe(0)
              },
              { javaScriptEnabled },
            )
          }
        }
      }
      expect(wrong).toEqual([])
    }, 120_000)

    test('plays a film and seeks in it by ranges', async () => {
      const file = await put('crossing.webm', await film('webm'))
      expect(await decided(host, key, file)).toBe('ready')
      await opened(file, async (page) => {
        const statuses: number[] = []
        page.on('response', (response) => {
          if (new URL(response.url()).pathname.startsWith('/v2/')) statuses.push(response.status())
        })
        const player = page.locator('video')
        expect(await player.getAttribute('poster')).toBe(`/t/${file.uuid}?size=960`)
        const timeOf = () => player.evaluate((it: Player) => it.currentTime)
        await page.reload()
        await eventually(
          'it is ready',
          async () => (await player.evaluate((it: Player) => it.readyState)) === 4,
        )
        // The keys come with it.
        await page.getByLabel('Speed').waitFor()
        await page.keyboard.press('m')
        await page.keyboard.press('k')
        await eventually('it plays', async () => (await timeOf()) > 0.1)
        await page.keyboard.press('l')
        expect(await timeOf()).toBeGreaterThan(9)
        await page.keyboard.press('j')
        await page.keyboard.press('ArrowRight')
        await page.keyboard.press('k')
        await eventually(
          'it is there',
          async () => (await player.evaluate((it: Player) => it.seeking)) === false,
        )
        expect(await timeOf()).toBeWithin(4, 9.9)
        expect(new Set(statuses)).toEqual(new Set([206]))
        await page.getByLabel('Speed').selectOption('1.5')
        expect(await player.evaluate((it: Player) => it.playbackRate)).toBe(1.5)
        await page.locator('h1').click()
        await page.keyboard.press('<')
        expect(await player.evaluate((it: Player) => it.playbackRate)).toBe(1.25)
      })
    })

    test('plays sound', async () => {
      const file = await put('foghorn.ogg', await film('ogg'))
      await opened(file, async (page) => {
        await eventually(
          'its length is known',
          async () => (await page.locator('audio').evaluate((it: Player) => Math.round(it.duration))) === 10,
        )
      })
    })

    test.each([
      ['a line that was broken', (route: Route) => route.abort()],
      ['the address it was sent to has run out', (route: Route) => route.fulfill({ status: 403 })],
    ])('plays on where it was after %s', async (_, refuse) => {
      const file = await put('surf.wav', silence(60))
      await using visit = await openPage(browser(), host.url)
      const { page } = visit
      let refused = 0
      let isBroken = false
      await page.route('**/v2/**', (route) => {
        if (!isBroken) return route.continue()
        refused++
        return refuse(route)
      })
      await page.goto(`/d/${file.slug}`)
      await page.getByLabel('Speed').waitFor()
      const player = page.locator('audio')
      const timeOf = () => player.evaluate((it: Player) => it.currentTime)
      await page.keyboard.press('k')
      await eventually('it plays', async () => (await timeOf()) > 0.1)
      isBroken = true
      // Farther than it has read by now.
      await player.evaluate((it: { currentTime: number }) => {
        it.currentTime = 50
      })
      await eventually('it has asked in vain', () => refused > 1)
      isBroken = false
      await eventually('it plays on', async () => (await timeOf()) > 50.5)
    })

    test('paints the pages of a PDF as they come into sight, with their text over them', async () => {
      const lines = Array.from({ length: 30 }, (_, at) => `This is page ${at + 1}`)
      const file = await put('tides.pdf', pdf(lines))
      await opened(file, async (page) => {
        await page.getByText('This is page 1', { exact: true }).waitFor()
        expect(await page.locator('.pdf-page').count()).toBe(30)
        expect(await page.locator('.pdf-page canvas').count()).toBeLessThan(10)
        await page.getByRole('region', { name: 'tides.pdf' }).press('End')
        await page.getByText('This is page 30', { exact: true }).waitFor()
        await eventually(
          'the first is let go of',
          async () => (await page.locator('.pdf-page').first().locator('canvas').count()) === 0,
        )
      })
    })

    test('paints a sheet of A0 that was scanned with 300 dots an inch', async () => {
      const file = await put('plan.pdf', scannedPdf(9933, 14_043))
      await opened(file, async (page) => {
        const canvas = page.locator('.pdf-page canvas')
        await canvas.waitFor()
        const middle =
          '(({ width, height }) => [...document.querySelector(".pdf-page canvas").getContext("2d").getImageData(width / 2, height / 2, 1, 1).data])(document.querySelector(".pdf-page canvas"))'
        expect(await page.evaluate<readonly number[]>(middle)).toEqual([0, 0, 0, 255])
      })
    })

    test('reads a long text on as one scrolls, to a line, and to what one searches', async () => {
      const lines = Array.from({ length: 20_000 }, (_, at) => `${at + 1} Ein Gruß. \r\n`)
      lines[14_999] = '15000 Needle\r\n'
      const file = await put('long.txt', lines.join(''))
      const text = lines.join('').replaceAll('\r', '')
      await opened(file, async (page) => {
        const region = page.getByRole('region', { name: 'long.txt' })
        const part = page.getByText(/^This is the first 256 KB of 3\d\d.* KB\.$/)
        await part.waitFor()
        expect(text.startsWith((await page.locator('.lines-all').textContent()) ?? '?')).toBe(true)
        await region.hover()
        await page.mouse.wheel(0, 1_000_000)
        await part.waitFor({ state: 'hidden' })
        expect(await page.locator('.lines-all').textContent()).toBe(text)
      })
      await opened(file, async (page) => {
        await page.getByRole('searchbox').fill('needle')
        await page.keyboard.press('Enter')
        await page.getByText('Line 15000', { exact: true }).waitFor()
        expect(await page.locator('[data-marked]').textContent()).toContain('15000 Needle')
        expect(new URL(page.url()).hash).toBe('#L15000')
        await page.getByRole('searchbox').fill('nowhere')
        await page.keyboard.press('Enter')
        await page.getByText('Not found', { exact: true }).waitFor()
        await page.goto(`/d/${file.slug}#L19999`)
        await page.reload()
        await page.locator('[data-marked]').waitFor()
        expect(await page.locator('[data-marked]').textContent()).toContain('19999')
        expect(await page.locator('[data-marked] .line-number').isVisible()).toBe(true)
      })
    })

    test('shows a hundred thousand lines, and says that there are more', async () => {
      await opened(await put('many.txt', '1\n'.repeat(100_001)), async (page) => {
        await page.getByText('These are the first 100,000 lines.').waitFor()
        expect(await page.locator('.line').count()).toBe(100_000)
      })
    })

    test('numbers the lines of code, colours it, links to lines, and wraps them as it did before', async () => {
      const file = await put('greet.ts', CODE)
      await opened(file, async (page) => {
        await page.locator('.hljs-keyword').first().waitFor()
        const region = page.getByRole('region', { name: 'greet.ts' })
        const text = await region.textContent()
        expect(text).toBe(CODE)
        const marked = () => page.locator('[data-marked]').allTextContents()
        const line = (number: number) => page.getByRole('link', { name: `Line ${number}`, exact: true })
        expect(await line(5).count()).toBe(1)
        await line(4).click()
        await line(2).click({ modifiers: ['Shift'] })
        expect(new URL(page.url()).hash).toBe('#L2-L4')
        expect((await marked()).join('')).toBe(
          CODE.split(/(?<=\n)/)
            .slice(1, 4)
            .join(''),
        )
        await page.keyboard.press('ArrowUp')
        await page.keyboard.press('Enter')
        expect(new URL(page.url()).hash).toBe('#L1')
        await page.keyboard.press('Shift+ArrowDown')
        expect(new URL(page.url()).hash).toBe('#L1-L2')
        expect(await region.getAttribute('data-wrap')).toBe('false')
        await page.getByRole('button', { name: 'Wrap lines' }).click()
        await page.goto(`/d/${file.slug}#L9-L3`)
        await page.reload()
        await page.locator('[data-marked]').first().waitFor()
        expect(await marked()).toHaveLength(3)
        expect(await region.getAttribute('data-wrap')).toBe('true')
        await page.getByRole('link', { name: 'Raw text' }).click()
        expect(await page.locator('body').textContent()).toBe(CODE)
      })
    })

    test('sets Markdown, whose links lead out and whose pictures stay away', async () => {
      const file = await put('README.md', MARKDOWN)
      await opened(file, async (page) => {
        await page.getByRole('heading', { name: 'A harbour' }).waitFor()
        const link = page.getByRole('link', { name: 'link', exact: true })
        expect(await link.getAttribute('href')).toBe('https://example.org/a')
        expect(await link.getAttribute('rel')).toContain('nofollow noopener')
        expect(await page.locator('.document table td').allTextContents()).toEqual(['high', '3.2 m'])
        expect(await page.locator('.document img').count()).toBe(0)
        await page.getByText('a map').waitFor()
      })
    })

    test('lays separated values out as a table, reads on as one scrolls, and sorts all of it', async () => {
      const rows = Array.from({ length: 15_000 }, (_, at) => `Harbour ${at},"a, ""b""\n",${14_999 - at}`)
      const file = await put('heights.csv', `name,note,__proto__\n${rows.join('\n')}`)
      await opened(file, async (page) => {
        await page.getByText('These are the first 1,000 rows.').waitFor()
        expect(await page.locator('thead th').allTextContents()).toEqual(['name', 'note', '__proto__'])
        const first = async () => page.locator('tbody tr').first().locator('td').allTextContents()
        expect(await first()).toEqual(['Harbour 0', 'a, "b"\n', '14999'])
        expect(await page.locator('tbody td.amount').count()).toBe(1000)
        await page.locator('.table').hover()
        const count = () => page.locator('tbody tr').count()
        await eventually('all rows are there', async () => {
          await page.mouse.wheel(0, 1_000_000)
          return (await count()) === 15_000
        })
        expect(await page.locator('tbody tr').last().locator('td').allTextContents()).toEqual([
          'Harbour 14999',
          'a, "b"\n',
          '0',
        ])
        expect(await page.getByText('These are the first').isVisible()).toBe(false)
      })
      await opened(file, async (page) => {
        const sorted = page.getByRole('columnheader', { name: '__proto__' })
        for (const [order, expected] of [
          ['ascending', 'Harbour 14999'],
          ['descending', 'Harbour 0'],
          [null, 'Harbour 0'],
        ] as const) {
          await sorted.getByRole('button').click()
          await eventually('it is sorted', async () => (await sorted.getAttribute('aria-sort')) === order)
          await page.locator('tbody td').first().getByText(expected, { exact: true }).waitFor()
        }
        // On paper all of it.
        await page.emulateMedia({ media: 'print' })
        const hidden =
          '(({ scrollHeight, clientHeight }) => scrollHeight - clientHeight)(document.querySelector(".stage"))'
        expect(await page.evaluate<number>(hidden)).toBe(0)
        expect(await page.locator('header.top').isVisible()).toBe(false)
      })
    })

    test.each([
      ['answers to 120 questions whole', { columns: 120, rows: 150 }, 120, null],
      [
        'all that a spreadsheet holds in part',
        { columns: 16_384, rows: 3 },
        500,
        'These are the first 3 rows and 500 columns.',
      ],
    ] as const)('lays out %s', async (_, { columns, rows }, shown, note) => {
      const head = Array.from({ length: columns }, (_each, at) => `c${at}`).join(',')
      const row = Array.from({ length: columns }, () => '1').join(',')
      const file = await put(
        'answers.csv',
        `${[head, ...Array.from({ length: rows }, () => row)].join('\n')}\n`,
      )
      await opened(file, async (page) => {
        await page.locator('thead th').first().waitFor()
        expect(await page.locator('thead th').count()).toBe(shown)
        expect(await page.locator('tbody tr').count()).toBe(rows)
        expect(await page.getByText(note ?? 'These are the first').count()).toBe(note === null ? 0 : 1)
      })
    })

    test('lists what is in an archive, and counts a look once, however many parts it reads', async () => {
      const file = await put('letters.zip', await zip(['letters/', 'letters/über.txt', 'plain.txt']))
      await opened(file, async (page) => {
        await page.getByText('3 entries').waitFor()
        expect(await page.locator('tbody tr').allTextContents()).toEqual([
          'letters/',
          'letters/über.txt10 B',
          'plain.txt10 B',
        ])
      })
      expect(await detail(host, key, file)).toMatchObject({ views: 1, downloads: 0 })
    })

    test('says what is the matter with a file that cannot be shown, and offers the download', async () => {
      await using visit = await openPage(browser(), host.url)
      for (const [name, content, message] of [
        ['broken.png', 'no picture', 'This cannot be shown here'],
        ['broken.webm', 'no film', 'This browser cannot play it'],
        ['broken.pdf', 'no document', 'This cannot be shown here'],
        ['broken.zip', 'no archive', 'This cannot be shown here'],
        ['broken.txt', 'no\0text', 'This is not text'],
        ['empty.txt', '', 'This file is empty'],
      ] as const) {
        const file = await put(name, content)
        await visit.page.goto(`/d/${file.slug}`)
        await visit.page.getByText(message).waitFor()
        const link = visit.page.getByRole('link', { name: 'Download the file' })
        expect(await link.getAttribute('href')).toBe(`/d/${file.slug}?download=1`)
      }
    })

    test('tells whether a copy that somebody has is the same', async () => {
      const content = randomBytes(9_000_000)
      const changed = content.slice()
      changed[8_999_999] = 255 - (changed[8_999_999] ?? 0)
      await opened(await put('program.exe', content), async (page) => {
        await page.getByText('Technical details').click()
        for (const [bytes, message] of [
          [content, 'This is the same file, byte for byte.'],
          [changed, 'This is not the same file: its content differs.'],
          [content.slice(1), 'This is not the same file: it has 8.6 MB'],
        ] as const) {
          await page.setInputFiles('#verify-file', {
            name: 'copy.exe',
            mimeType: 'application/octet-stream',
            buffer: Buffer.from(bytes),
          })
          await page.getByText(message).waitFor()
        }
      })
    })

    test('puts its link into the clipboard, and carries it as a QR code', async () => {
      const file = await put('notes.txt', 'some notes')
      await opened(
        file,
        async (page) => {
          await page.getByRole('button', { name: 'Copy link' }).click()
          await page.getByText('Copied').waitFor()
          expect(await page.evaluate('navigator.clipboard.readText()')).toBe(file.url)
          await page.getByText('QR code').click()
          const path = await page.locator('.qr-code path').getAttribute('d')
          expect(modulesOf(path ?? '')).toEqual(
            encode(file.url, { border: 4, ecc: 'M' }).data.flatMap(darkOf),
          )
        },
        { permissions: ['clipboard-read', 'clipboard-write'] },
      )
    })

    test('shows a large photo as large as the screen, and the original when it is asked for', async () => {
      // Noise, so that it has the bytes of a photo.
      const noise = { type: 'gaussian', mean: 128, sigma: 40 } as const
      const pixels = sharp({ create: { width: 2400, height: 1200, channels: 3, background: 'red', noise } })
      const file = await put('photo.jpg', new Uint8Array(await pixels.jpeg().toBuffer()))
      expect(await decided(host, key, file)).toBe('ready')
      await opened(file, async (page) => {
        const image = page.getByRole('region').locator('img')
        await image.waitFor()
        const widthOf = async () => (await image.boundingBox())?.width ?? 0
        const [source, before] = [await image.getAttribute('src'), await widthOf()]
        expect(source).toBe(`/t/${file.uuid}?size=large`)
        await page.getByRole('button', { name: 'View original' }).click()
        // The button says that the original is on its way, and goes when it is shown.
        await page.locator('.original-part').waitFor({ state: 'detached' })
        expect(await image.getAttribute('src')).toContain('/v2/')
        expect(await image.evaluate((it: { naturalWidth: number }) => it.naturalWidth)).toBe(2400)
        expect(await widthOf()).toBeCloseTo(before, 0)
      })
    })

    test('shows squares behind a picture that is see-through, and behind no other', async () => {
      const create = (alpha: number) =>
        sharp({ create: { width: 60, height: 40, channels: 4, background: { r: 200, g: 0, b: 0, alpha } } })
      for (const [alpha, squares] of [
        [0.5, 1],
        [1, 0],
      ] as const) {
        const bytes = new Uint8Array(await create(alpha).png().toBuffer())
        await opened(await put('logo.png', bytes), async (page) => {
          await page.getByRole('region').locator('img').waitFor()
          expect(await page.locator('img[data-see-through]').count()).toBe(squares)
        })
      }
    })

    test('keeps the words of a table whole on a phone', async () => {
      const row = 'Wilhelmshaven,Switzerland,Liechtenstein,Luxembourg'
      const file = await put('names.csv', `one,two,three,four\n${row}\n`)
      await opened(
        file,
        async (page) => {
          await page.locator('.table').waitFor()
          const height = await page
            .locator('tbody td')
            .first()
            .evaluate((it: { offsetHeight: number }) => it.offsetHeight)
          const head = await page
            .locator('th')
            .first()
            .evaluate((it: { offsetHeight: number }) => it.offsetHeight)
          // One line: no higher than the button in the head.
          expect(height).toBeWithin(30, head + 1)
          expect(await pixelsBeside(page)).toBe(0)
        },
        PHONE,
      )
    })

    test('fits a phone, and a thumb', async () => {
      const name = `${'a-very-long-name-'.repeat(12)}.csv`
      const file = await put(name, 'a,b,c\n'.repeat(500))
      await opened(
        file,
        async (page) => {
          await page.locator('.table').waitFor()
          expect(await pixelsBeside(page)).toBe(0)
          expect(await smallTargets(page)).toEqual([])
        },
        PHONE,
      )
    })

    test('has no fault that axe finds, in light and in dark', async () => {
      const shown: readonly (readonly [string, Bytes | string, string])[] = [
        ['photograph.jpg', await picture(600, 400), '.zoom'],
        ['greet.ts', CODE, '.hljs-keyword'],
        ['README.md', MARKDOWN, '.document'],
        ['tides.pdf', pdf(['One page']), '.pdf-text span'],
        ['letters.zip', await zip(['a.txt']), '.entries'],
        ['broken.pdf', 'none', '.stage-message'],
      ]
      await using visit = await openPage(browser(), host.url, { reducedMotion: 'reduce' })
      for (const [name, bytes, sign] of shown) {
        const file = await put(name, bytes)
        await visit.page.goto(`/d/${file.slug}`)
        await visit.page.locator(sign).first().waitFor()
        expect([name, await faultsInBothColours(visit.page)]).toEqual([name, []])
      }
    })

    test('reads content that another origin gives out', async () => {
      let target = ''
      await using content = Bun.serve({
        hostname: '127.0.0.1',
        port: 0,
        fetch: ({ url, method, headers }) => {
          const { pathname, search } = new URL(url)
          return fetch(target + pathname + search, { method, headers, redirect: 'manual' })
        },
      })
      const origin = content.url.origin
      await using apart = await apartFrom(origin)
      target = apart.host.url
      const shown: readonly (readonly [string, Bytes | string, string])[] = [
        ['notes.txt', 'some notes', '.lines'],
        ['letters.zip', await zip(['a.txt']), '.entries'],
        ['tides.pdf', pdf(['One page']), '.pdf-text span'],
        ['photograph.jpg', await picture(300, 200), '.zoom'],
      ]
      for (const [name, bytes, sign] of shown) {
        const file = await upload(apart.host, {
          name,
          bytes: typeof bytes === 'string' ? textBytes(bytes) : bytes,
        })
        await using visit = await openPage(browser(), apart.host.url)
        await visit.page.goto(`/d/${file.slug}`)
        await visit.page.locator(sign).first().waitFor()
        const [first, ...others] = new Set(visit.trouble().map((line) => line.split('?')[0]))
        expect([first, others]).toEqual([
          `asked another host: ${origin}/v2/${file.uuid}${name.slice(name.indexOf('.'))}`,
          [],
        ])
      }
    })

    test('shows pictures, films and facts, and leads on to the rest, without JavaScript', async () => {
      const without = { javaScriptEnabled: false }
      await opened(
        await put('photograph.png', await picture(300, 200)),
        async (page) => {
          const { complete, naturalWidth } = await pictureOf(page)
          expect([complete, naturalWidth]).toEqual([true, 300])
        },
        without,
      )
      const film = await put('crossing.webm', 'a film')
      await opened(
        film,
        async (page) => expect(await page.locator('video[controls]').count()).toBe(1),
        without,
      )
      const text = await put('notes.txt', 'some notes')
      await opened(
        text,
        async (page) => {
          expect(await page.locator('.skeleton').isVisible()).toBe(false)
          for (const control of ['#verify-file', 'button[data-copy]']) {
            expect(await page.locator(control).isVisible()).toBe(false)
          }
          await page.getByRole('link', { name: 'Show the text' }).click()
          expect(await page.locator('body').textContent()).toBe('some notes')
        },
        without,
      )
    })
  },
  'ffmpeg',
  'python3',
)

/** A server whose content is at the origin. */
async function apartFrom(contentUrl: string) {
  const host = await startHoldfast({ ...GENEROUS, contentUrl })
  return { host, [Symbol.asyncDispose]: () => host.stop() }
}

/** Of a media element, what is asked here. */
interface Player {
  readonly currentTime: number
  readonly duration: number
  readonly playbackRate: number
  readonly readyState: number
  readonly seeking: boolean
}

/** What a person sees of the picture. */
async function seenOf(page: Page): Promise<{ isTall: boolean; corners: string }> {
  await eventually('the picture is there', async () => (await pictureOf(page)).complete)
  const { naturalWidth, naturalHeight } = await pictureOf(page)
  const shot = await page.locator('#picture').screenshot()
  // Within its element it may have space at two sides.
  const { width, height } = await sharp(shot).metadata()
  const scale = Math.min(width / naturalWidth, height / naturalHeight)
  const size = { width: Math.floor(naturalWidth * scale), height: Math.floor(naturalHeight * scale) }
  const [left, top] = [Math.floor((width - size.width) / 2), Math.floor((height - size.height) / 2)]
  const picture = await sharp(shot)
    .extract({ left, top, ...size })
    .png()
    .toBuffer()
  return { isTall: naturalHeight > naturalWidth, corners: await cornersOf(picture) }
}

/** What the browser has of the picture; asked over the protocol, because the page runs nothing. */
async function pictureOf(
  page: Page,
): Promise<{ complete: boolean; naturalWidth: number; naturalHeight: number }> {
  const session = await page.context().newCDPSession(page)
  const { result } = await session.send('Runtime.evaluate', {
    expression:
      '(({ complete, naturalWidth, naturalHeight }) => ({ complete, naturalWidth, naturalHeight }))(document.querySelector("#picture"))',
    returnByValue: true,
  })
  return result.value
}

/** The dark modules of the code that is drawn, as `x y`. */
function modulesOf(path: string): string[] {
  return [...path.matchAll(/M(\d+) (\d+)h(\d+)v1h-\d+z/g)].flatMap(([, x, y, width]) =>
    Array.from({ length: Number(width) }, (_, at) => `${Number(x) + at} ${y}`),
  )
}

function darkOf(row: readonly boolean[], y: number): string[] {
  return row.flatMap((isDark, x) => (isDark ? [`${x} ${y}`] : []))
}
