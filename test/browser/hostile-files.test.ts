/** Files that try to do something on the page that shows them. A canary listens; it must never sing. */
// Only in test:all: generated: every hostile content.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { describeInBrowser, openPage } from '../support/browser/browser.ts'
import { api, GENEROUS, makeFolder, textBytes, upload } from '../support/clients/public.ts'
import { MARKUP, PDF_ACTIONS, SCRIPT, SVG } from '../support/contents/hostile-contents.ts'
import { eventually } from '../support/eventually.ts'
import { startHoldfast, type TestHoldfast } from '../support/servers/holdfast.ts'
import { film, pdf, zip } from './shown-files.ts'

const MARKDOWN =
  `# ${MARKUP}

${MARKUP}

[script](javascript:${SCRIPT}) [shout](JaVaScRiPt:alert` +
  '`1`' +
  `) [data](data:text/html,${MARKUP}) [vb](vbscript:x)
[here](/d/x) [near](//canary.invalid/) [title](https://example.org/ "\\" onmouseover=\\"${SCRIPT}")
<javascript:${SCRIPT}> ![i](//canary.invalid/i.png) ![i](x" onerror="${SCRIPT}) https://canary.invalid/"onload="${SCRIPT}

[^1]: ${MARKUP}

\`\`\`"><script>${SCRIPT}</script>
${MARKUP}
\`\`\`

<div id="stage" name="createElement"></div>
`

/** Made to keep a parser busy. */
const DEEP = `${'> '.repeat(5000)}deep\n\n${'['.repeat(20_000)}${'*a_'.repeat(20_000)}\n${MARKUP}`

const TURNED = '\u202egnp.exe\u202c'

/** Their names, what is in them, and the sign that they are shown. */
const files: readonly (readonly [string, () => Promise<string | ReturnType<typeof textBytes>>, string])[] = [
  ['page.html', async () => `<!doctype html><html><body onload="${SCRIPT}">${MARKUP}`, '.hljs-tag'],
  ['data.xml', async () => SVG, '.hljs-tag'],
  ['script.js', async () => `${SCRIPT}\n/* ${MARKUP} */`, '.hljs-keyword, .hljs-title, .hljs-comment'],
  [
    'data.json',
    async () => `{"__proto__":{"fired":1},"constructor":"${MARKUP.replaceAll('"', '\\"')}"}`,
    '.hljs-attr',
  ],
  ['drawing.svg', async () => SVG, '.zoom img'],
  ['README.md', async () => MARKDOWN, '.document h1'],
  ['deep.md', async () => DEEP, '.paper'],
  ['notes.txt', async () => `${MARKUP}\n${TURNED}\n${'x'.repeat(250_000)}`, '.lines'],
  ['long.js', async () => `/*${'('.repeat(60_000)}${'a'.repeat(60_000)}`, '.lines-code[data-wrap="true"]'],
  [
    'cells.csv',
    async () =>
      `__proto__,constructor,${MARKUP}\n=cmd|'/c calc'!A1,"${MARKUP.replaceAll('"', '""')}",${TURNED}`,
    '.table td',
  ],
  [
    'entries.zip',
    () => zip([MARKUP, '../../../etc/passwd', '__proto__', TURNED, 'javascript:alert(1)']),
    '.entries td',
  ],
  ['document.pdf', async () => pdf([MARKUP.slice(0, 80)], PDF_ACTIONS), '.pdf canvas'],
  ['sound.mp3', async () => tagged(await film('mp3')), 'audio'],
  ['picture.png', async () => MARKUP, '.stage-message'],
  ['film.mp4', async () => `${MARKUP}${'\0'.repeat(500)}`, '.stage-message'],
  ['other.bin', async () => MARKUP, '.stage-icon'],
]

describeInBrowser(
  'a hostile file',
  (browser) => {
    let host: TestHoldfast
    let key: string
    let folder: string
    const slugs = new Map<string, string>()
    beforeAll(async () => {
      host = await startHoldfast(GENEROUS)
      key = (await host.addAccount('owner')).apiKey
      folder = await makeFolder(host, key, { name: MARKUP.slice(0, 60).replaceAll('/', '|') })
      for (const [name, make] of files) slugs.set(name, await hostile(name, await make()))
    })
    afterAll(() => host.stop())

    /** Puts the file into the folder under a name full of markup. */
    async function hostile(
      name: string,
      bytes: Parameters<typeof textBytes>[0] | ReturnType<typeof textBytes>,
    ) {
      const content = typeof bytes === 'string' ? textBytes(bytes) : bytes
      const file = await upload(host, { key, folder, name, bytes: content })
      const renamed = `"><img src=x onerror=alert(1)>'\`{{7*7}}&lt;.${name}`
      const answer = await api(host, key, 'PATCH', `/api/v1/file/${file.slug}`, { name: renamed })
      expect(answer.status).toBe(200)
      return file.slug
    }

    /** Opens the address, waits for the sign of a preview, and expects that nothing has happened besides. */
    async function expectSilence(path: string, sign: string, bypassCSP: boolean) {
      await using visit = await openPage(browser(), host.url, { bypassCSP })
      const { page } = visit
      const asked: string[] = []
      page.context().on('request', (request) => asked.push(request.url()))
      await page.goto(path)
      await page.locator(sign).first().waitFor()
      // What runs late has its chance. A page that draws nothing more may never be told that it is idle.
      await page.evaluate('new Promise((resolve) => requestIdleCallback(resolve, { timeout: 1000 }))')
      expect(await page.evaluate('window.fired')).toBeUndefined()
      expect(page.context().pages()).toHaveLength(1)
      expect(new URL(page.url()).pathname).toBe(path)
      expect(asked.filter((url) => !url.startsWith(host.url) || url.includes('fired'))).toEqual([])
      // Lists carry handlers for programs to read, which the policy stops.
      expect(visit.trouble(bypassCSP ? 0 : await page.locator('.file-item').count())).toEqual([])
    }

    test.each(files)('of the name %s does nothing but be seen', async (name, _, sign) => {
      // Without the policy, so that it is not what saves us.
      await expectSilence(`/d/${slugs.get(name)}`, sign, true)
    })

    test.each([true, false])(
      'does nothing in a list of them all, whether the policy is off: %p',
      async (off) => {
        await expectSilence(`/f/${folder}`, '.file-item', off)
      },
    )

    test('would be heard', async () => {
      await using visit = await openPage(browser(), host.url, { bypassCSP: true })
      await visit.page.goto('/health')
      await visit.page.setContent(MARKUP)
      const signs = ['dialog: fired', 'asked another host']
      await eventually('it is heard', () => signs.every((sign) => visit.trouble().join().includes(sign)))
    })

    test('shows what would turn its text around', async () => {
      const file = await upload(host, { key, name: 'login.js', bytes: textBytes(`if (admin${TURNED}) go()`) })
      await using visit = await openPage(browser(), host.url)
      await visit.page.goto(`/d/${file.slug}`)
      await visit.page.locator('.turning').first().waitFor()
      expect(await visit.page.locator('.turning').allTextContents()).toEqual(['U+202E', 'U+202C'])
    })
  },
  'ffmpeg',
  'python3',
)

/** The sound with a title and a comment full of markup before it (ID3v2.3). */
function tagged(sound: Uint8Array): ReturnType<typeof textBytes> {
  const frames = ['TIT2', 'COMM', 'TXXX'].map((id) => {
    const body = Buffer.from(`\0${MARKUP}`)
    const head = Buffer.alloc(10)
    head.write(id)
    head.writeUInt32BE(body.length, 4)
    return Buffer.concat([head, body])
  })
  const all = Buffer.concat(frames)
  const size = [21, 14, 7, 0].map((bits) => (all.length >> bits) & 0x7f)
  return new Uint8Array(Buffer.concat([Buffer.from('ID3\x03\0\0'), Buffer.from(size), all, sound]))
}
