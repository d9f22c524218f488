/** A SQLite file in which pages are damaged: the real program on a database of some hundred files. */
// Only in test:all: many starts of the server and of commands.
import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { cpSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { holdfast, type Outcome } from '../support/cli/command.ts'
import { type Caller, caller } from '../support/clients/caller.ts'
import { eventually } from '../support/eventually.ts'
import { addAccount, launchChild, logLines, startChild, temporaryFolder } from '../support/processes/child.ts'
import { runProgram } from '../support/processes/program.ts'
import { describeWith } from '../support/processes/tools.ts'
import { startHoldfast } from '../support/servers/holdfast.ts'
import { damagePage, type PageKind, pagesOf } from '../support/storage/sqlite-pages.ts'

const FOLDERS = 8
const FILES_IN_EACH = 40

const diagnosis = z.object({
  findings: z.array(z.object({ check: z.string(), level: z.string(), what: z.string() })),
})
const checked = z.object({
  damaged_parts: z.array(z.object({ name: z.nullable(z.string()), kind: z.string() })),
})

/** Where a page is damaged, and what `holdfast check --database` says of it. */
const DAMAGED: readonly [PageKind, string | null, string][] = [
  ['table leaf', 'files', 'table'],
  ['table interior', 'files', 'table'],
  ['index leaf', 'files_by_age', 'index'],
  ['index interior', 'files_by_age', 'index'],
]

const copies = temporaryFolder()
const whole = join(copies.path, 'whole')
let apiKey: string
let slugs: string[]
let folders: string[]
let made = 0

beforeAll(async () => {
  ;({ apiKey } = await addAccount(whole, 'ann'))
  await using server = await startChild(whole)
  const ann = caller(server.url, apiKey)
  folders = []
  slugs = []
  for (let folder = 0; folder < FOLDERS; folder++) {
    const into = await ann.createFolder(`folder ${folder}`)
    folders.push(into)
    const uploads = Array.from({ length: FILES_IN_EACH }, (_, file) =>
      ann.upload(
        Buffer.from(`content ${folder} ${file}`),
        `a file with a long name ${folder} ${file}.txt`,
        into,
      ),
    )
    slugs.push(...(await Promise.all(uploads)).map(({ slug }) => slug))
  }
  await server.stop()
  // Pages that are free again.
  using database = new Database(fileIn(whole))
  database.run('create table spare as select hex(randomblob(500)) as x from files')
  database.run('drop table spare')
})
afterAll(() => copies[Symbol.dispose]())

const fileIn = (dataDir: string) => join(dataDir, 'holdfast.sqlite')

/** A copy of the data folder with one page of that kind overwritten. */
function damaged(kind: PageKind, of: string | null): string {
  const dataDir = join(copies.path, `damaged ${++made}`)
  cpSync(whole, dataDir, { recursive: true })
  const pages = pagesOf(fileIn(dataDir)).filter((page) => page.kind === kind && page.of === of)
  const page = pages[Math.floor(pages.length / 2)]
  if (page === undefined) throw new Error(`there is no ${kind} of ${of}`)
  damagePage(fileIn(dataDir), page)
  return dataDir
}

const command = (dataDir: string, words: readonly string[]): Promise<Outcome> =>
  holdfast(copies.path, words, { HOLDFAST_DATA_DIR: dataDir })

async function damagedParts(dataDir: string) {
  const { code, output } = await command(dataDir, ['check', '--database', '--json'])
  return { code, parts: checked.parse(JSON.parse(output)).damaged_parts }
}

async function foundByDoctor(dataDir: string): Promise<{ level: string; what: string } | undefined> {
  const { output } = await command(dataDir, ['doctor', '--silence', '0', '--json'])
  return diagnosis.parse(JSON.parse(output)).findings.find(({ check }) => check === 'database-pages')
}

/** Reads every list and file, and changes something, whatever is answered. Returns the statuses by what was asked. */
async function useAll(ann: Caller): Promise<Map<string, number>> {
  const statuses = new Map<string, number>()
  const ask = async (path: string, init: RequestInit = {}) => {
    const headers = { authorization: `Bearer ${apiKey}`, ...init.headers }
    const response = await fetch(ann.url + path, { ...init, headers, keepalive: false })
    await response.arrayBuffer()
    statuses.set(`${init.method ?? 'GET'} ${path}`, response.status)
  }
  const json = (body: unknown) => ({
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  for (let page = 1; page <= (FOLDERS * FILES_IN_EACH) / 50; page++) {
    for (const sort of ['created_at', 'name', 'size']) {
      await ask(`/api/v1/files?per_page=50&page=${page}&sort=${sort}`)
    }
  }
  await ask('/api/v1/files?search=long%20name')
  await ask('/api/v1/folders')
  await ask('/api/v1/account')
  for (const folder of folders) await ask(`/api/v1/folder/${folder}/files`)
  for (const slug of slugs) await ask(`/api/v1/file/${slug}`)
  for (const slug of slugs.filter((_, at) => at % 5 === 0))
    await ask('/api/v1/file/move', json({ file: slug, folder: folders[0] }))
  for (const slug of slugs.slice(0, 5)) await ask(`/d/${slug}`)
  return statuses
}

describe.each(DAMAGED)('a damaged page (%s of %s)', (kind, of, says) => {
  test('is an answer of requests that need it and a state of /ready, and others are served', async () => {
    const dataDir = damaged(kind, of)
    await using server = await startChild(dataDir)
    const statuses = await useAll(caller(server.url, apiKey))
    expect([...new Set(statuses.values())].sort()).toEqual([200, 503])
    expect(statuses.get('GET /api/v1/folders')).toBe(200)
    const ready = await fetch(`${server.url}/ready`)
    expect(ready.status).toBe(503)
    expect(await ready.json()).toMatchObject({ database: 'damaged', store: 'ok', uploads: true })
    const kept = await caller(server.url, apiKey).createFolder('made meanwhile')
    expect(kept).not.toBe('')
    await server.stop()
    expect(logLines(server.output()).filter(({ msg }) => String(msg).includes('not caught'))).toEqual([])
  })

  test('is named by the check and by the doctor, without a request that needs it', async () => {
    const dataDir = damaged(kind, of)
    const { code, parts } = await damagedParts(dataDir)
    expect({ code, parts }).toMatchObject({ code: 3, parts: [{ name: of, kind: says }] })
    const finding = await foundByDoctor(dataDir)
    expect(finding?.level).toBe('problem')
    expect(finding?.what).toContain(String(of))
  })
})

test('damage in the list of free pages is found, and a start that needs one says what to do', async () => {
  const dataDir = damaged('freelist', null)
  expect(await damagedParts(dataDir)).toEqual({ code: 3, parts: [{ name: null, kind: 'free pages' }] })
  const child = launchChild(dataDir)
  const started = await child.listening.then(
    () => true,
    () => false,
  )
  if (!started) expect(child.output()).toContain('docs/operations/disaster.md')
  await child.kill()
})

test('a sound database is told to be sound, also while a server writes', async () => {
  const dataDir = join(copies.path, 'sound')
  cpSync(whole, dataDir, { recursive: true })
  await using server = await startChild(dataDir)
  const ann = caller(server.url, apiKey)
  const uploads = Array.from({ length: 40 }, (_, at) => ann.upload(Buffer.from(`more ${at}`), 'more.txt'))
  expect(await damagedParts(dataDir)).toEqual({ code: 0, parts: [] })
  await Promise.all(uploads)
  expect((await foundByDoctor(dataDir))?.level).toBe('ok')
})

describeWith(['sqlite3'], 'what disaster.md tells', () => {
  test.each([
    ['index leaf', 'files_by_age'],
    ['index interior', 'files_by_age'],
    ['freelist', null],
  ] as const)('makes what is damaged anew without loss (%s of %s)', async (kind, of) => {
    const dataDir = damaged(kind, of)
    const mended = join(dataDir, 'mended.sqlite')
    const { code } = await runProgram(['sh', '-c', `sqlite3 holdfast.sqlite .dump | sqlite3 mended.sqlite`], {
      cwd: dataDir,
    })
    expect(code).toBe(0)
    for (const end of ['', '-wal', '-shm']) rmSync(fileIn(dataDir) + end, { force: true })
    cpSync(mended, fileIn(dataDir))
    expect(await damagedParts(dataDir)).toEqual({ code: 0, parts: [] })
    await using server = await startChild(dataDir)
    const statuses = await useAll(caller(server.url, apiKey))
    expect([...new Set(statuses.values())]).toEqual([200])
  })
})

test('after an unclean end every page is read in the background, and /ready tells of damage', async () => {
  const dataDir = damaged('table leaf', 'files')
  {
    await using killed = await startChild(dataDir)
    await killed.kill()
  }
  const server = await startHoldfast({ dataDir })
  expect((await fetch(`${server.url}/ready`)).status).toBe(200)
  await server.runJobs()
  await eventually('it is not ready', async () => (await fetch(`${server.url}/ready`)).status === 503)
  await server.stop()
})
