/** The guides: as pages, and their examples as somebody would run them. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { GUIDES, type GuideName } from '../../../src/pages/guides.ts'
import { api, elements, makeFolder, type Uploaded, upload, visit } from '../../support/clients/public.ts'
import { PNG } from '../../support/contents/picture.ts'
import { runProgram } from '../../support/processes/program.ts'
import { type Tool, testWith } from '../../support/processes/tools.ts'
import { startHoldfast, type TestAccount, type TestHoldfast } from '../../support/servers/holdfast.ts'

const DOCS = join(import.meta.dir, '../../../docs/guide')
const NAME = 'holiday.jpg'

let host: TestHoldfast
let account: TestAccount
let folder: string
let file: Uploaded
let work: string
beforeAll(async () => {
  host = await startHoldfast()
  account = await host.addAccount()
  folder = await makeFolder(host, account.apiKey)
  file = await upload(host, { key: account.apiKey, folder, name: NAME, bytes: PNG })
  // Packages are found from below the repository alone.
  work = await mkdtemp(join(import.meta.dir, '../../../node_modules/.holdfast-guides-'))
  await Bun.write(join(work, NAME), PNG)
})
afterAll(async () => {
  await rm(work, { recursive: true, force: true })
  await host.stop()
})

describe('a guide', () => {
  test.each([...GUIDES])('is the page /docs/%s, with the address of this server in it', async (name) => {
    const response = await visit(host, `/docs/${name}`, { headers: { accept: 'text/html' } })
    expect(response.status).toBe(200)
    expect(response.headers.get('content-security-policy')).not.toContain("script-src 'self' 'unsafe")
    const html = await response.text()
    expect(html).not.toContain('files.example.org')
    expect(html).toContain(host.url)
    const links = elements(html, 'a').map(({ attributes }) => attributes.href ?? '')
    for (const link of links.filter((each) => each.startsWith('/'))) {
      expect(`${link} ${(await visit(host, link)).status}`).toBe(`${link} 200`)
    }
  })

  test('that there is none of answers 404', async () => {
    expect((await visit(host, '/docs/none')).status).toBe(404)
  })
})

/** What runs an example of that language; an example says nothing of what it needs beyond that. */
const PROGRAMS = {
  sh: { needs: ['curl'], command: ['bash', '-euo', 'pipefail'] },
  js: { needs: [], command: [process.execPath, 'run'] },
  python: { needs: ['python3'], command: ['python3'] },
} as const satisfies Record<string, { needs: readonly Tool[]; command: readonly string[] }>
type Language = keyof typeof PROGRAMS

const EXAMPLES: readonly (readonly [GuideName, Language, needs: readonly Tool[]])[] = [
  ['api', 'sh', []],
  ['api', 'js', []],
  ['api', 'python', []],
  ['tus-clients', 'js', []],
  ['tus-clients', 'sh', []],
  ['rclone', 'sh', ['rclone']],
]

describe('the examples', () => {
  for (const [guide, language, more] of EXAMPLES) {
    const { needs, command } = PROGRAMS[language]
    testWith([...needs, ...more], `of ${guide} in ${language} work`, async () => {
      const before = await filesNamed(NAME)
      const script = join(work, `example.${language}`)
      await Bun.write(script, (await blocks(guide, language)).map(filledIn).join('\n'))
      await Bun.write(join(work, 'remote/photos', NAME), PNG)
      await Bun.write(join(work, 'remote', NAME), PNG)
      const { code, output, errors } = await runProgram([...command, script], {
        cwd: work,
        env: {
          ...process.env,
          RCLONE_CONFIG: '/dev/null',
          RCLONE_CONFIG_REMOTE_TYPE: 'alias',
          RCLONE_CONFIG_REMOTE_REMOTE: join(work, 'remote'),
        },
      })
      expect(`${code} ${code === 0 ? '' : errors}`).toBe('0 ')
      expect(output).not.toContain('"success":false')
      expect(await filesNamed(guide === 'api' && language === 'js' ? 'hello.txt' : NAME)).toBeGreaterThan(
        guide === 'api' && language === 'js' ? 0 : before,
      )
    })
  }

  for (const [tool, path] of [
    ['curl', 'again.jpg'],
    ['rclone', `remote/fetched/${NAME}`],
  ] as const) {
    testWith([tool], `of ${tool} bring back what was put in`, async () => {
      expect(Buffer.from(await Bun.file(join(work, path)).bytes()).equals(PNG)).toBe(true)
    })
  }
})

describe('the configuration of ShareX', () => {
  const uploader = z.strictObject({
    Version: z.string().regex(/^\d+\.\d+\.\d+$/),
    Name: z.string(),
    DestinationType: z.string(),
    RequestMethod: z.literal('POST'),
    RequestURL: z.url(),
    Headers: z.record(z.string(), z.string()),
    Body: z.literal('MultipartFormData'),
    FileFormName: z.string(),
    URL: z.string(),
    ThumbnailURL: z.string(),
    ErrorMessage: z.string(),
  })

  test('uploads, and finds the link, the thumbnail and the message', async () => {
    const [block = ''] = await blocks('sharex', 'json')
    const config = uploader.parse(JSON.parse(filledIn(block)))
    const send = async (headers: Record<string, string>) => {
      const form = new FormData()
      form.set(config.FileFormName, new File([PNG], NAME))
      const answer = await fetch(config.RequestURL, { method: config.RequestMethod, headers, body: form })
      return z.record(z.string(), z.unknown()).parse(await answer.json())
    }
    const stored = await send(config.Headers)
    expect((await fetch(replaced(config.URL, stored))).status).toBe(200)
    expect((await fetch(replaced(config.ThumbnailURL, stored))).status).toBe(200)
    expect(replaced(config.ErrorMessage, await send({ Authorization: 'Bearer nobody' }))).toMatch(/key/)
  })
})

/** As ShareX writes what an answer says into an address. */
function replaced(text: string, answer: Record<string, unknown>): string {
  return text.replaceAll(/\{json:(\w+)\}/g, (_, field: string) => String(answer[field]))
}

/** The blocks of one language in a guide. */
async function blocks(guide: GuideName, language: string): Promise<string[]> {
  const text = await Bun.file(join(DOCS, `${guide}.md`)).text()
  const found = [...text.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)]
  return found.filter(([, its]) => its === language).map(([, , block = '']) => block)
}

/** With what a reader puts in. */
function filledIn(block: string): string {
  return block
    .replaceAll('https://files.example.org', host.url)
    .replaceAll('hf_…', account.apiKey)
    .replaceAll('<slug>', file.slug)
    .replaceAll('<identifier>', folder)
}

/** How many files of that name the account has. */
async function filesNamed(name: string): Promise<number> {
  const shape = z.object({ pagination: z.object({ total: z.number() }) })
  const answer = await api(host, account.apiKey, 'GET', `/api/v1/files?search=${name}`)
  return shape.parse(answer.body).pagination.total
}
