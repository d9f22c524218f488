/** Administration from the command line, beside a running server. */
// Only in test:all: many starts of the program; test/cluster/operations has the same by its interface.

import { beforeAll, describe, expect, test } from 'bun:test'
import { hostname } from 'node:os'
import { keepJob } from '../../../src/core/jobs/job-leases.ts'
import { DAY } from '../../../src/domain/clock.ts'
import type { Outcome } from '../../support/cli/command.ts'
import { holdfastHere as holdfast } from '../../support/cli/command-here.ts'
import { type Api, api, refusal, type Uploaded } from '../../support/clients/api.ts'
import { PASSWORD, visitor } from '../../support/clients/site-visitor.ts'
import { hostOfFile } from '../../support/servers/owned-host.ts'

let caller: Api
let file: Uploaded
const host = await hostOfFile()
beforeAll(async () => {
  caller = api(host, (await host.addAccount('ann')).apiKey)
  file = await caller.put('bad content', { name: 'bad.txt' })
})

const settings = () => ({ HOLDFAST_DATA_DIR: host.dataDir, HOLDFAST_PUBLIC_URL: 'https://files.example' })

function run(...words: string[]): Promise<Outcome> {
  return holdfast(host.dataDir, words, settings())
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
    expect((await run('admin', 'add', 'root')).code).toBe(0)
    expect((await run('account', 'quota', 'ann', '5KB')).code).toBe(0)
    for (const [days, stored] of [
      ['90', 90],
      ['default', null],
      ['never', 0],
    ] as const) {
      expect((await run('account', 'inactive-days', 'Ann', days)).output).toContain('The days of Ann are set')
      expect(await json('account', 'list', '--search', 'ann')).toMatchObject([{ inactive_days: stored }])
    }
    for (const wrong of ['36501', '1.5', 'always', '']) {
      const { code, errors } = await run('account', 'inactive-days', 'ann', wrong)
      expect([code, errors]).toEqual([2, expect.stringContaining('whole number of days')])
    }
    expect(await json('account', 'list')).toMatchObject([
      { username: 'ann', quota: 5120, inactive_days: 0, is_admin: false, files_count: 1 },
      { username: 'root', quota: null, is_admin: true },
    ])
    expect(await refused('admin', 'withdraw', 'root')).toContain('another account an administrator')
    expect(await refused('account', 'remove', 'root', '--confirm', 'root')).toContain('administrator')
    expect(await refused('account', 'remove', 'ann', '--confirm', 'root')).toContain('to confirm')
    expect((await run('account', 'disable', 'ann')).code).toBe(0)
    expect(await caller.get('/api/v1/files')).toMatchObject(refusal('ACCOUNT_DISABLED'))
    expect((await run('account', 'enable', 'ann')).code).toBe(0)
    expect((await caller.get('/api/v1/files')).status).toBe(200)
    expect((await json('account', 'reset', 'ann')).url).toStartWith('https://files.example/set-password/')
  })

  test('withdraws one of several administrators, who then is like others', async () => {
    expect((await run('admin', 'add', 'second')).code).toBe(0)
    expect((await run('admin', 'withdraw', 'Second')).output).toBe('second is no administrator.\n')
    expect(await json('account', 'list', '--search', 'second')).toMatchObject([{ is_admin: false }])
    expect((await json('admin', 'audit', '--act', 'admin.unmade'))[0]).toMatchObject({ object: 'second' })
  })

  test('deletes an account with every file in it', async () => {
    const gone = await host.addAccount('gone')
    const { url } = await api(host, gone.apiKey).put('of somebody who goes')
    const removed = await run('account', 'remove', 'gone', '--confirm', 'gone')
    expect(removed).toMatchObject({ code: 0, output: 'Account gone is deleted with everything in it.\n' })
    expect(await json('account', 'list', '--search', 'gone')).toEqual([])
    expect((await fetch(url)).status).toBe(404)
    expect(await api(host, gone.apiKey).get('/api/v1/files')).toMatchObject(refusal('INVALID_API_KEY'))
    expect(await refused('account', 'remove', 'gone', '--confirm', 'gone')).toContain('no account "gone"')
  })

  test('invites somebody, who makes one account', async () => {
    const { url, expires_at } = await json('admin', 'invite')
    expect(url).toStartWith('https://files.example/sign-up/')
    expect(Date.parse(expires_at)).toBeGreaterThan(Date.now() + 6 * DAY)
    expect((await json('admin', 'audit', '--act', 'invitation.made'))[0]).toMatchObject({ account: null })
    const person = visitor(() => host.url)
    const account = { username: 'invited', password: PASSWORD, invitation: url.split('/').at(-1) }
    expect((await person.send('POST', '/api/v1/account', account)).status).toBe(200)
    const again = await person.send('POST', '/api/v1/account', { ...account, username: 'another' })
    expect(again.error).toBe('INVALID_LINK')
    const closed = { ...settings(), HOLDFAST_SIGN_UP: 'closed' }
    const { code, errors } = await holdfast(host.dataDir, ['admin', 'invite'], closed)
    expect({ code, errors }).toEqual({ code: 1, errors: expect.stringContaining('Sign-up is closed') })
  })

  test('tells who has signed in, and whose tries were locked, from where', async () => {
    const person = visitor(() => host.url)
    const as = (password: string) => person.send('POST', '/api/v1/session', { username: 'invited', password })
    expect((await as(PASSWORD)).status).toBe(200)
    expect((await json('admin', 'audit', '--act', 'account.signed_in'))[0]).toMatchObject({
      account: { username: 'invited' },
      object: 'invited',
      details: { by: 'password' },
    })
    person.cookies.clear()
    for (let each = 0; each < 11; each++) await as('not it')
    const { output } = await run('admin', 'audit', '--act', 'tries.locked')
    expect(output).toMatch(/ not signed in +(127\.0\.0\.1|::1) +tries\.locked +invited /)
    expect((await run('admin', 'audit', '--act', 'invitation.made')).output).toMatch(/ command line +- /)
  })

  test('takes down what was reported, and the log tells', async () => {
    await api(host).post('/api/v1/file/report', { slug: file.slug, reason: 'malware' })
    const [report] = await json('report', 'list')
    expect(await json('admin', 'take-down', String(report.id))).toEqual([{ sha256: file.sha256, files: 1 }])
    expect((await fetch(file.url)).status).toBe(404)
    expect(await caller.upload('bad content')).toMatchObject(refusal('CONTENT_REFUSED'))
    expect(await json('admin', 'refused')).toMatchObject([{ sha256: file.sha256, files: 1 }])
    expect((await json('admin', 'audit', '--act', 'content.taken_down'))[0]).toMatchObject({
      account: null,
      object: file.sha256,
      details: { report: report.id, name: 'bad.txt' },
    })
    expect(await refused('admin', 'take-down')).toContain('--sha256')
  })

  test('allows again what was taken down', async () => {
    const { sha256 } = await caller.put('taken down by a slip')
    expect(await json('admin', 'take-down', '--sha256', sha256)).toEqual([{ sha256, files: 1 }])
    expect(await caller.upload('taken down by a slip')).toMatchObject(refusal('CONTENT_REFUSED'))
    expect((await run('admin', 'allow', sha256.toUpperCase())).output).toBe(
      `${sha256} may be uploaded again.\n`,
    )
    expect((await caller.upload('taken down by a slip')).status).toBe(200)
    expect(await refused('admin', 'allow', sha256)).toContain('is blocked')
  })

  test('dismisses reports, and leaves their files', async () => {
    const { slug, url } = await caller.put('quite harmless')
    await api(host).post('/api/v1/file/report', { slug, reason: 'spam' })
    const [report] = await json('report', 'list')
    expect((await run('report', 'dismiss', String(report.id))).code).toBe(0)
    expect(await json('report', 'list')).toEqual([])
    expect((await fetch(url)).status).toBe(200)
    expect((await json('admin', 'audit', '--act', 'report.dismissed'))[0]).toMatchObject({
      object: String(report.id),
    })
  })

  test('lists the newest and the largest files, and tells whose they are', async () => {
    const large = await caller.put('x'.repeat(5000), { name: 'large.txt' })
    const ofGuest = await api(host).put('new', { name: 'new.txt' })
    const [newest] = await json('admin', 'files', '--last', '1')
    expect(newest).toMatchObject({ slug: ofGuest.slug, name: 'new.txt', size: 3, account: null })
    const [largest, ...others] = await json('admin', 'files', '--largest', '--last', '1')
    expect(largest).toMatchObject({ slug: large.slug, size: 5000, account: { username: 'ann' } })
    expect(others).toEqual([])
    expect((await run('admin', 'files')).output).toMatch(/large\.txt\n/)
  })

  test('tells how it stands and what the server did on each day', async () => {
    await caller.put('one more to count')
    await host.runJobs()
    const { now, days } = await json('admin', 'statistics', '--days', '2')
    expect(now).toMatchObject({ accounts: expect.any(Number), reports_open: 0 })
    expect(now.files).toBe((await json('admin', 'files', '--last', '1000')).length)
    expect(days).toHaveLength(2)
    expect(days[0]).toMatchObject({ requests: 0, uploads: 0 })
    expect(days[1].requests).toBeGreaterThan(days[1].uploads)
    expect(days[1].uploads).toBeGreaterThanOrEqual(now.files)
  })

  test('lists jobs, and lets one run again that was set aside', async () => {
    const name = 'purge deleted files'
    const at = host.clock.now()
    await keepJob(host.database, name, { failures: 5, failure: 'no store', failed_at: at, ended_at: at })
    expect(await json('admin', 'jobs', 'list')).toContainEqual(
      expect.objectContaining({ name, state: 'set aside', failures: 5, failure: 'no store' }),
    )
    expect((await run('admin', 'jobs', 'retry', name)).output).toContain(`"${name}" runs again`)
    expect(await json('admin', 'jobs', 'list')).toContainEqual(
      expect.objectContaining({ name, state: 'waiting' }),
    )
    expect(await refused('admin', 'jobs', 'retry', name)).toContain('not set aside')
    expect((await json('admin', 'audit', '--act', 'job.retried'))[0]).toMatchObject({ object: name })
  })

  test('lists the servers, and the settings with nothing that is secret', async () => {
    const nodes = await host.database.selectFrom('nodes').select('id').execute()
    expect(nodes).toHaveLength(1)
    expect(await json('admin', 'nodes')).toEqual(
      nodes.map(({ id }) => ({
        id,
        started_at: expect.stringMatching(/^\d{4}-.*Z$/),
        host: hostname(),
        address: '127.0.0.1:0',
        version: expect.stringMatching(/^\d+\.\d+\.\d+(\+[0-9a-f]{12})?$/),
      })),
    )
    const secret = { ...settings(), HOLDFAST_METRICS: 'on', HOLDFAST_METRICS_TOKEN: 'a-very-secret-token' }
    const { output } = await holdfast(host.dataDir, ['admin', 'settings', '--json'], secret)
    expect(output).not.toContain('a-very-secret-token')
    const inForce = JSON.parse(output)
    const found = (name: string) => inForce.find((setting: { name: string }) => setting.name === name)
    expect(found('HOLDFAST_PUBLIC_URL')).toMatchObject({ value: 'https://files.example', is_default: false })
    expect(found('HOLDFAST_SIGN_UP')).toMatchObject({ value: 'invitation', is_default: true })
    expect(found('HOLDFAST_METRICS_TOKEN')).toMatchObject({ value: '…', is_secret: true })
    expect((await run('admin', 'settings')).output).toMatch(
      /HOLDFAST_PUBLIC_URL +environment +https:\/\/files\.example/,
    )
  })

  test('puts a notice on the pages of the running server', async () => {
    expect((await run('admin', 'notice', 'set', 'Down at ten', '--level', 'warning')).code).toBe(0)
    await host.runJobs()
    expect(await (await fetch(host.url)).text()).toContain('Down at ten')
    expect((await run('admin', 'notice', 'clear')).code).toBe(0)
    expect(await json('admin', 'notice', 'show')).toBeNull()
  })
})
