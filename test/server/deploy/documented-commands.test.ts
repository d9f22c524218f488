/** Every command of the documentation, run as it stands there; what cannot be run here is excepted with its reason. */
// Only in test:all: runs every command of the documentation.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { loadConfig } from '../../../src/config.ts'
import { makeLink } from '../../support/clients/links.ts'
import { api, bearer, GENEROUS, makeFolder, textBytes, upload } from '../../support/clients/public.ts'
import { PNG } from '../../support/contents/picture.ts'
import { temporaryFolder } from '../../support/processes/child.ts'
import { runProgram } from '../../support/processes/program.ts'
import { testWith } from '../../support/processes/tools.ts'
import { startHoldfast, type TestAccount, type TestHoldfast } from '../../support/servers/holdfast.ts'
import { EXCEPTED } from './excepted-commands.ts'
import { installWrapper } from './wrapper.ts'

const REPOSITORY = join(import.meta.dir, '../../..')
const MAIN = join(REPOSITORY, 'src/main.ts')
const PAGES = [
  'README.md',
  'docs/api/README.md',
  ...['docs/guide', 'docs/operations'].flatMap((folder) =>
    readdirSync(join(REPOSITORY, folder))
      .filter((name) => name.endsWith('.md'))
      .sort()
      .map((name) => `${folder}/${name}`),
  ),
]
const SHELLS = ['sh', 'bash', 'console']
/** Settings as a file has them, which are no commands; those before a command are. */
const SETTINGS = /^(#.*|HOLDFAST_\w+=(?!.*\b(holdfast|sudo|npx) ).*)$/

let host: TestHoldfast
let account: TestAccount
const folder = temporaryFolder()

beforeAll(async () => {
  host = await startHoldfast(GENEROUS)
  account = await host.addAccount('owner')
  for (const username of ['ada', 'bea']) await host.addAccount(username)
  await host.makeAdmin('bea')
  mkdirSync(join(folder.path, 'remote/photos'), { recursive: true })
  for (const name of ['holiday.jpg', 'photos/"quoted" name.jpg', 'photos/plain.jpg']) {
    writeFileSync(join(folder.path, 'remote', name), PNG)
  }
  // As one that has failed five times in a row.
  await host.database
    .insertInto('jobs')
    .values({
      name: 'purge deleted files',
      node: null,
      ended_at: null,
      failures: 5,
      failure: 'none',
      failed_at: 0,
    })
    .onConflict((row) => row.column('name').doUpdateSet({ failures: 5, failure: 'none', failed_at: 0 }))
    .execute()
  makePrograms()
  await makeReports()
})
afterAll(async () => {
  await host.stop()
  folder[Symbol.dispose]()
})

/** With the files that the commands name. */
function newWorkFolder(page: string): string {
  const work = join(folder.path, 'work', page)
  mkdirSync(join(work, 'photos'), { recursive: true })
  for (const file of ['film.mkv', 'holiday.jpg', 'beach.jpg', 'a.jpg', 'photos/a.jpg'])
    writeFileSync(join(work, file), PNG)
  return work
}

/** What the commands call: the program through the wrapper, and a curl for which a refused request is a failure. */
function makePrograms(): void {
  const { bin } = installWrapper(folder.path, host.dataDir)
  const programs = {
    npx: `shift\nexec '${process.execPath}' --no-env-file '${MAIN}' "$@"`,
    curl: `case " $* " in *' --fail '*) ;; *) set -- --fail-with-body "$@" ;; esac\nexec '${Bun.which('curl')}' "$@"`,
  }
  for (const [name, body] of Object.entries(programs)) {
    writeFileSync(join(bin, name), `#!/bin/sh\n${body}\n`)
    chmodSync(join(bin, name), 0o755)
  }
}

/** Open reports of the numbers that the pages name. */
async function makeReports(): Promise<void> {
  for (let number = 1; number <= 9; number++) {
    const { slug } = await upload(host, {
      key: account.apiKey,
      name: `${number}.txt`,
      bytes: textBytes(`${number}`),
    })
    const answer = await api(host, account.apiKey, 'POST', '/api/v1/file/report', {
      slug,
      reason: 'copyright',
      text: 'Mine.',
    })
    expect(answer.status).toBeLessThan(300)
  }
}

interface Block {
  readonly page: string
  readonly language: string
  readonly text: string
}

function blocksOf(page: string): Block[] {
  const text = readFileSync(join(REPOSITORY, page), 'utf8')
  return [...text.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)].map(([, language = '', text = '']) => ({
    page,
    language,
    text,
  }))
}

const blocks = PAGES.flatMap(blocksOf)
const commands = blocks.filter(({ language }) => SHELLS.includes(language))
const isSettings = ({ text }: Block) =>
  text
    .trim()
    .split('\n')
    .every((line) => SETTINGS.test(line))
const reasonOf = ({ page, text }: Block) =>
  EXCEPTED.find((each) => page.endsWith(each.page ?? '') && each.command.test(text))?.reason

describe('the settings in the documentation', () => {
  const settings = commands
    .filter(isSettings)
    .map((block) => [`${block.page}: ${firstLine(block)}`, block] as const)
  test.each(settings)('%s are taken', (_, { text }) => {
    const lines = text.split('\n').filter((line) => /^HOLDFAST/.test(line))
    const variables = lines.map((line) =>
      line.replaceAll('…', '0123456789abcdef').split(/=(.*)/s).slice(0, 2),
    )
    expect(loadConfig(Object.fromEntries(variables))).toMatchObject({})
  })
})

describe('the commands in the documentation', () => {
  const pages = PAGES.map((page) => ({
    page,
    run: commands.filter(
      (block) => block.page === page && !isSettings(block) && reasonOf(block) === undefined,
    ),
  })).filter(({ run }) => run.length > 0)

  for (const { page, run } of pages) {
    testWith(
      page.endsWith('rclone.md') ? ['curl', 'rclone'] : ['curl'],
      `of ${page} work, word for word`,
      async () => {
        const script: string[] = []
        for (const block of run) script.push(`# ${firstLine(block)}`, await filledIn(block))
        const path = join(folder.path, `${basename(page)}.sh`)
        writeFileSync(path, script.join('\n'))
        const { code, output, errors } = await runProgram(['bash', '-xeuo', 'pipefail', path], {
          cwd: newWorkFolder(page),
          env: environment(),
        })
        if (code !== 0) throw new Error(`${page} ended with ${code}:\n${errors}\n${output}`)
      },
    )
  }

  test('in other languages are run with the guides, or excepted', () => {
    const others = blocks.filter(({ language }) => ['js', 'ts', 'python'].includes(language))
    const run = (block: Block) =>
      /guide\/(api|tus-clients)\.md$/.test(block.page) || reasonOf(block) !== undefined
    expect(others.filter((block) => !run(block))).toEqual([])
  })

  test('that are excepted are still there', () => {
    const idle = EXCEPTED.filter(
      (each) =>
        !blocks.some((block) => block.page.endsWith(each.page ?? '') && each.command.test(block.text)),
    )
    expect(idle).toEqual([])
  })

  const loop = 'include a loop over a remote folder that writes one link to a line, whatever the names'
  testWith(['curl', 'rclone'], loop, async () => {
    const lines = readFileSync(join(folder.path, 'work/docs/guide/rclone.md/links.txt'), 'utf8')
      .trim()
      .split('\n')
    expect(lines).toHaveLength(2)
    const names = await Promise.all(
      lines.map(async (link) => (await fetch(`${link}?download=1`)).headers.get('content-disposition')),
    )
    expect(names.join()).toContain('%22quoted%22%20name.jpg')
    expect(names.join()).toContain('plain.jpg')
  })

  test('fetch a locked folder as its owner', async () => {
    const locked = await makeFolder(host, account.apiKey, { name: 'Locked', password: 'sand' })
    const answer = await fetch(`${host.url}/api/v1/folder/${locked}/download`, {
      headers: bearer(account.apiKey),
    })
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'application/zip'])
  })
})

function firstLine({ text }: Block): string {
  return text.split('\n')[0] ?? ''
}

function environment(): Record<string, string> {
  return {
    PATH: `${join(folder.path, 'bin')}:${process.env.PATH}`,
    HOME: folder.path,
    KEY: account.apiKey,
    HOST: host.url,
    HOLDFAST_API_KEY: account.apiKey,
    RCLONE_CONFIG: '/dev/null',
    RCLONE_CONFIG_REMOTE_TYPE: 'alias',
    RCLONE_CONFIG_REMOTE_REMOTE: join(folder.path, 'remote'),
  }
}

let made = 0

/** With what a reader puts in: an address, a key, a file and a folder of their own. What a terminal prints is left out. */
async function filledIn({ text: written }: Block): Promise<string> {
  const text = written.replaceAll('/mnt/', `${folder.path}/mnt/`).replaceAll('/srv/', `${folder.path}/srv/`)
  const { slug, sha256 } = await upload(host, {
    key: account.apiKey,
    name: 'note.txt',
    bytes: textBytes(`${++made}`),
  })
  const own = await makeFolder(host, account.apiKey, { name: `Folder ${made}` })
  const link = await makeLink(host, account.apiKey, { files: [slug] })
  const taking = await makeLink(host, account.apiKey, { folders: [own], uploads: {} })
  await host.addKey(account.username)
  const { body } = await api(host, account.apiKey, 'GET', '/api/v1/keys')
  const keys: { id: number }[] = Object(body).data
  const id = String(keys.at(-1)?.id)
  const guest = await fetch(`${host.url}/guest.txt`, { method: 'PUT', body: `${made}` })
  const receipt = guest.headers.get('holdfast-receipt') ?? ''
  const ofLink = text.includes('<receipt-of-the-link>')
    ? await receiptOf('receipts/link', { receipts: [receipt] })
    : ''
  const ofTransfer = text.includes('<receipt-of-the-transfer>') ? await receiptOf('transfers', {}) : ''
  const [webhook, delivery] = text.includes('<webhook>') ? await makeWebhook() : ['', '']
  const typed = /^\$ /m.test(text)
    ? [...text.matchAll(/^\$ (.*)$/gm)].map(([, command]) => command).join('\n')
    : text
  return typed
    .replaceAll(/https:\/\/files\.example\.org|http:\/\/localhost:3000/g, host.url)
    .replaceAll('hf_…', account.apiKey)
    .replaceAll(/<slug>|aB3dE5gH7jK9|Kx3RmP7vTq2a/g, slug)
    .replaceAll(/<identifier>|abcdefghij012345|ntxjntu38cgdtff0/g, own)
    .replaceAll('9f86d081…', sha256)
    .replaceAll('<id>', id)
    .replaceAll('<link>', link)
    .replaceAll('<upload-link>', taking)
    .replaceAll('<receipt>', receipt)
    .replaceAll('<receipt-of-the-link>', ofLink)
    .replaceAll('<receipt-of-the-transfer>', ofTransfer)
    .replaceAll('<webhook>', webhook)
    .replaceAll('<delivery>', delivery)
}

/** The receipt of a link or transfer that a guest makes. */
async function receiptOf(path: 'receipts/link' | 'transfers', body: object): Promise<string> {
  const made = await fetch(`${host.url}/api/v1/${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  return String(Object(await made.json()).receipt)
}

/** A webhook to which nothing is sent, since it leads to this machine, and what is to be sent there. */
async function makeWebhook(): Promise<readonly [webhook: string, delivery: string]> {
  const idIn = ({ body }: { readonly body: unknown }) => String(Object(body).data?.id)
  const url = 'http://localhost:65535/'
  const webhook = idIn(await api(host, account.apiKey, 'POST', '/api/v1/webhooks', { url }))
  return [webhook, idIn(await api(host, account.apiKey, 'POST', `/api/v1/webhooks/${webhook}/test`))]
}
