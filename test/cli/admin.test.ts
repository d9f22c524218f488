/** Administration from the command line, beside a running server. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type Api, api, refusal, type Uploaded } from '../support/api.ts'
import { startHoldfast, type TestHoldfast } from '../support/holdfast.ts'
import { holdfast, type Outcome } from './command.ts'

let host: TestHoldfast
let caller: Api
let file: Uploaded
beforeAll(async () => {
  host = await startHoldfast()
  caller = api(host, (await host.addAccount('ann')).apiKey)
  file = await caller.put('bad content', { name: 'bad.txt' })
})
afterAll(() => host.stop())

function run(...words: string[]): Promise<Outcome> {
  const settings = { HOLDFAST_DATA_DIR: host.dataDir, HOLDFAST_PUBLIC_URL: 'https://files.example' }
  return holdfast(host.dataDir, ['admin', ...words], settings)
}

async function json(...words: string[]) {
  const { code, output, errors } = await run(...words, '--json')
  expect({ code, errors }).toEqual({ code: 0, errors: '' })
  return JSON.parse(output)
}

async function refused(...words: string[]): Promise<string> {
  const { code, output, errors } = await run(...words)
  expect({ code, output }).toEqual({ code: 1, output: '' })
  return errors
}

describe('holdfast admin', () => {
  test('says what accounts may, and keeps the last administrator', async () => {
    expect((await run('add', 'root')).code).toBe(0)
    expect((await run('accounts', 'quota', 'ann', '5KB')).code).toBe(0)
    expect(await json('accounts', 'list')).toMatchObject([
      { username: 'ann', quota: 5120, is_admin: false, files_count: 1 },
      { username: 'root', quota: null, is_admin: true },
    ])
    expect(await refused('withdraw', 'root')).toContain('another account an administrator')
    expect(await refused('accounts', 'remove', 'root', '--confirm', 'root')).toContain('administrator')
    expect(await refused('accounts', 'remove', 'ann', '--confirm', 'root')).toContain('to be sure')
    expect((await run('accounts', 'disable', 'ann')).code).toBe(0)
    expect(await caller.get('/api/v1/files')).toMatchObject(refusal('ACCOUNT_DISABLED'))
    expect((await run('accounts', 'enable', 'ann')).code).toBe(0)
    expect((await caller.get('/api/v1/files')).status).toBe(200)
    expect((await json('accounts', 'reset', 'ann')).url).toStartWith('https://files.example/set-password/')
  })

  test('takes down what was reported, and the log tells', async () => {
    await api(host).post('/api/v1/file/report', { slug: file.slug, reason: 'malware' })
    const [report] = await json('reports')
    expect(await json('take-down', String(report.id))).toEqual([{ sha256: file.sha256, files: 1 }])
    expect((await fetch(file.url)).status).toBe(404)
    expect(await caller.upload('bad content')).toMatchObject(refusal('CONTENT_REFUSED'))
    expect(await json('refused')).toMatchObject([{ sha256: file.sha256, files: 1 }])
    expect((await json('audit', '--act', 'content.taken_down'))[0]).toMatchObject({
      account: null,
      object: file.sha256,
      details: { report: report.id, name: 'bad.txt' },
    })
    expect(await refused('take-down')).toContain('--sha256')
  })

  test('puts a notice on the pages of the running server', async () => {
    expect((await run('notice', 'set', 'Down at ten', '--level', 'warning')).code).toBe(0)
    await host.runJobs()
    expect(await (await fetch(host.url)).text()).toContain('Down at ten')
    expect((await run('notice', 'clear')).code).toBe(0)
    expect(await json('notice', 'show')).toBeNull()
  })
})
