/** What administrators see and do with accounts and with the server itself. */
import { beforeAll, describe, expect, test } from 'bun:test'
import { sql } from 'kysely'
import { z } from 'zod'
import { DAY, HOUR } from '../../../src/domain/clock.ts'
import { api, refusal } from '../../support/clients/api.ts'
import { intoBin, totals } from '../../support/clients/bin.ts'
import { PASSWORD, sessionHeaders, signedIn, visitor } from '../../support/clients/site-visitor.ts'
import { tus } from '../../support/clients/tus.ts'
import { eventually } from '../../support/eventually.ts'
import { onCluster } from '../../support/servers/holdfast.ts'
import { hostOfFile } from '../../support/servers/owned-host.ts'
import { administrator, type TestAdministrator } from '../../support/sign-in/administrator.ts'
import { unsoundTotals } from '../../support/storage/soundness.ts'

const KB = 1024

let admin: TestAdministrator
const host = await hostOfFile({ storageLimit: 20 * KB, rateLimit: 1_000_000, sessionRateLimit: 1_000_000 })
beforeAll(async () => {
  admin = await administrator(host)
}, 120_000)

const account = z.object({
  id: z.number(),
  username: z.string(),
  disabled_at: z.string().nullable(),
  is_admin: z.boolean(),
  has_codes: z.boolean(),
  storage_used: z.number(),
  storage_limit: z.number(),
  quota: z.number().nullable(),
  files_count: z.number(),
})

async function newcomer() {
  const { id, username, apiKey } = await host.addAccount()
  return { id, username, caller: api(host, apiKey), path: `/account/${id}` }
}

describe('accounts', () => {
  test('are listed page by page, found by a part of their name, and sorted', async () => {
    for (const username of ['list-b', 'list_c', 'list-a']) await host.addAccount(username)
    const names = async (query: string) =>
      (await admin.read(`/accounts?${query}`, z.array(account))).map(({ username }) => username)
    expect(await names('search=LIST&sort=username&order=asc')).toEqual(['list-a', 'list-b', 'list_c'])
    expect(await names('search=list_')).toEqual(['list_c'])
    expect(await names('search=list&sort=created_at')).toEqual(['list-a', 'list_c', 'list-b'])
    expect(await names('search=list&sort=username&order=asc&per_page=2&page=2')).toEqual(['list_c'])
    expect(await names('state=administrators')).toEqual(['root'])
    const page = await admin.get('/api/v1/admin/accounts?search=list&per_page=2')
    expect(JSON.parse(page.text).pagination).toEqual({ page: 1, per_page: 2, total: 3, pages: 2 })
    expect((await admin.get('/api/v1/admin/accounts?sort=password')).error).toBe('INVALID_REQUEST')
  })

  test('take what their quota allows, on every way in, and what the setting says without one', async () => {
    const { caller, path } = await newcomer()
    const content = 'x'.repeat(15 * KB)
    const limits = async () => {
      const own = z.object({ data: z.object({ storage_limit: z.number() }) })
      return own.parse((await caller.get('/api/v1/account')).body).data.storage_limit
    }
    await admin.act('PATCH', path, { quota: 10 * KB })
    expect(await limits()).toBe(10 * KB)
    const refused = await caller.upload(content)
    expect(refused).toMatchObject(refusal('STORAGE_LIMIT_EXCEEDED'))
    expect(JSON.stringify(refused.body)).toContain('10 KB')
    const chunked = await caller.upload(content, { chunked: true })
    expect(chunked).toMatchObject(refusal('STORAGE_LIMIT_EXCEEDED'))
    const resumable = await tus(caller).create({ 'upload-length': String(15 * KB) })
    expect(resumable).toMatchObject(refusal('STORAGE_LIMIT_EXCEEDED'))
    await admin.act('PATCH', path, { quota: 35 * KB })
    await caller.put(content)
    await caller.put(content)
    await admin.act('PATCH', path, { quota: null })
    expect(await limits()).toBe(20 * KB)
    // What is there stays.
    expect(await totals(caller)).toMatchObject({ storage_used: 30 * KB })
    expect(await caller.upload('x')).toMatchObject(refusal('STORAGE_LIMIT_EXCEEDED'))
    for (const quota of [-1, 1.5, '1GB', 2 ** 60]) {
      const reply = await admin.send('PATCH', `/api/v1/admin${path}`, { quota })
      expect(reply.error).toBe('INVALID_REQUEST')
    }
  })

  test('that are disabled are refused with the next request until they are enabled', async () => {
    const { caller, username, path } = await newcomer()
    const browser = await signedIn(host, username)
    await admin.act('PATCH', path, { disabled: true })
    const listed = await admin.read(`/accounts?state=disabled&search=${username}`, z.array(account))
    expect(listed.map(({ disabled_at }) => disabled_at)).toEqual([expect.any(String)])
    for (let asked = 0; asked < 3; asked++) {
      expect(await caller.get('/api/v1/files')).toMatchObject(refusal('ACCOUNT_DISABLED'))
      expect((await browser.get('/api/v1/session')).error).toBe('ACCOUNT_DISABLED')
    }
    await admin.act('PATCH', path, { disabled: false })
    for (let asked = 0; asked < 3; asked++) {
      expect((await caller.get('/api/v1/files')).status).toBe(200)
      expect((await browser.get('/api/v1/session')).status).toBe(200)
    }
  })

  test('that are reset let nobody in until the link has set a new password', async () => {
    const { username, path } = await newcomer()
    const browser = await signedIn(host, username)
    const { url } = (await admin.act('POST', `${path}/reset`, {})).data(z.object({ url: z.string() }))
    expect((await browser.get('/api/v1/session')).error).toBe('NOT_SIGNED_IN')
    const signIn = (password: string) =>
      visitor(() => host.url).send('POST', '/api/v1/session', { username, password })
    expect((await signIn(PASSWORD)).status).toBe(403)
    const token = url.split('/').at(-1)
    const password = 'granite lantern under moss'
    const set = await visitor(() => host.url).send('POST', '/api/v1/account/password', { token, password })
    expect(set.status).toBe(200)
    expect((await signIn(password)).status).toBe(200)
  })

  test('lose codes and passkeys with a reset that says so, and keep them otherwise', async () => {
    const { id, path } = await newcomer()
    await sql`update accounts set two_factor = 1 where id = ${id}`.execute(host.database)
    await sql`insert into two_factors (account_id, secret, recovery_codes, verified) values (${id}, 's', 'c', 1)`.execute(
      host.database,
    )
    await sql`insert into passkeys
      (account_id, credential_id, public_key, counter, device_type, backed_up, created_at)
      values (${id}, 'of ${sql.lit(id)}', 'k', 0, 'd', 0, 0)`.execute(host.database)
    const ways = () => admin.read(path, z.object({ has_codes: z.boolean(), passkeys: z.number() }))
    await admin.act('POST', `${path}/reset`, {})
    expect(await ways()).toEqual({ has_codes: true, passkeys: 1 })
    await admin.act('POST', `${path}/reset`, { second_factor: true })
    expect(await ways()).toEqual({ has_codes: false, passkeys: 0 })
  })

  test('are deleted with everything in them once their name is repeated', async () => {
    const { caller, username, path } = await newcomer()
    const [kept, binned] = [await caller.put('kept'), await caller.put('binned')]
    await intoBin(caller, { files: [binned.slug] })
    const remove = (name: string) => admin.send('POST', `/api/v1/admin${path}/delete`, { username: name })
    expect((await remove('root')).error).toBe('INVALID_REQUEST')
    expect((await fetch(kept.url)).status).toBe(200)
    expect((await remove(username.toUpperCase())).status).toBe(200)
    expect((await fetch(kept.url)).status).toBe(404)
    expect(await caller.get('/api/v1/files')).toMatchObject(refusal('INVALID_API_KEY'))
    expect((await remove(username)).error).toBe('NOT_FOUND')
    await eventually('all of it is cleared', async () => {
      await host.runJobs()
      return (await unsoundTotals(host.database)).length === 0
    })
  })

  test('always have an administrator among them, also when two act at the same time', async () => {
    const other = await administrator(host, 'second')
    const [root] = await admin.read('/accounts?search=root', z.array(account))
    const [second] = await admin.read('/accounts?search=second', z.array(account))
    const replies = await Promise.all([
      admin.send('PATCH', `/api/v1/admin/account/${second?.id}`, { is_admin: false }),
      other.send('PATCH', `/api/v1/admin/account/${root?.id}`, { is_admin: false }),
    ])
    expect(replies.filter(({ status }) => status === 200).length).toBe(1)
    // Whoever was slower has lost the right, or would have been the last.
    const last = (await admin.get('/api/v1/admin/accounts')).status === 200 ? admin : other
    const [id, username] = last === admin ? [root?.id, 'root'] : [second?.id, 'second']
    const path = `/api/v1/admin/account/${id}`
    for (const body of [{ is_admin: false }, { disabled: true }]) {
      expect((await last.send('PATCH', path, body)).error).toBe('LAST_ADMINISTRATOR')
    }
    expect((await last.send('POST', `${path}/delete`, { username })).error).toBe('LAST_ADMINISTRATOR')
    const themselves = { username, password: PASSWORD }
    expect((await last.send('POST', '/api/v1/account/delete', themselves)).error).toBe('LAST_ADMINISTRATOR')
    await last.send('PATCH', `/api/v1/admin/account/${root?.id}`, { is_admin: true })
    expect((await admin.get('/api/v1/admin/accounts')).status).toBe(200)
  })

  test('of guests and of nobody are none', async () => {
    for (const id of ['0', '999999999', 'ada', '-1']) {
      const path = `/api/v1/admin/account/${id}`
      expect((await admin.get(path)).error).toBe('NOT_FOUND')
      expect((await admin.send('PATCH', path, { quota: 1 })).error).toBe('NOT_FOUND')
      expect((await admin.send('POST', `${path}/reset`, {})).error).toBe('NOT_FOUND')
      expect((await admin.send('POST', `${path}/delete`, { username: '*guests*' })).error).toBe('NOT_FOUND')
    }
  })
})

describe('the audit log', () => {
  test('has who did what from where, in the transaction that did it', async () => {
    const { id, username, path } = await newcomer()
    const [root] = await admin.read('/accounts?search=root', z.array(account))
    await admin.act('PATCH', path, { quota: 7, disabled: true })
    // What changes nothing is no deed.
    await admin.act('PATCH', path, { quota: 7, disabled: true })
    const [quota, before] = await admin.deeds('account.quota')
    expect(quota).toEqual({
      account: { id: root?.id ?? 0, username: 'root' },
      address: expect.stringMatching(/^(127\.0\.0\.1|::1|::ffff:127\.0\.0\.1)$/),
      act: 'account.quota',
      object: username,
      details: { quota: 7, before: null },
    })
    expect(before?.object).not.toBe(username)
    expect((await admin.deeds('account.disabled'))[0]).toMatchObject({ object: username, details: {} })
    const refused = await admin.send('POST', `/api/v1/admin${path}/delete`, { username: 'somebody' })
    expect(refused.status).toBe(400)
    expect((await admin.deeds('account.removed')).map(({ object }) => object)).not.toContain(username)
    expect((await admin.deeds('account.added'))[0]).toMatchObject({ account: null, address: null })
    await admin.send('POST', '/api/v1/invitations')
    expect((await admin.deeds('invitation.made'))[0]?.account?.username).toBe('root')
    expect(id).toBeGreaterThan(0)
  })

  test('can be changed by nobody, whatever they send to the database', async () => {
    const rows = () => host.database.selectFrom('audit_log').selectAll().orderBy('id').execute()
    const before = await rows()
    expect(before.length).toBeGreaterThan(2)
    const attempts = [
      sql`update audit_log set username = 'nobody'`,
      sql`delete from audit_log where id > 0`,
      onCluster
        ? sql`truncate audit_log`
        : sql`insert or replace into audit_log (id, at, act, details)
        values (1, 1, 'notice.set', '{}')`,
    ]
    for (const attempt of attempts) {
      await expect(attempt.execute(host.database)).rejects.toThrow(/only ever added to/)
    }
    expect(await rows()).toEqual(before)
  })
})

describe('the numbers of the server', () => {
  const day = z.object({
    day: z.string(),
    requests: z.number(),
    bytes_in: z.number(),
    bytes_out: z.number(),
    uploads: z.number(),
    downloads: z.number(),
    accounts: z.number().nullable(),
    files: z.number().nullable(),
    storage_used: z.number().nullable(),
  })
  type Counted = 'requests' | 'bytes_in' | 'bytes_out' | 'uploads' | 'downloads'
  const statistics = z.object({
    now: z.object({ accounts: z.number(), files: z.number(), storage_used: z.number() }),
    days: z.array(day),
  })

  test('count requests, bytes, uploads and downloads of each day, and sample what there is', async () => {
    const { caller } = await newcomer()
    const read = async () => {
      await host.settle()
      const { now, days } = await admin.read('/statistics?days=3', statistics)
      // Over all days, so that it does not matter when one ends.
      const sum = (what: Counted) => days.reduce((sum, day) => sum + day[what], 0)
      return { now, days, sum }
    }
    const before = await read()
    const size = 3 * KB
    const file = await caller.put('x'.repeat(size))
    const { path } = await tus(caller).start(4)
    expect((await tus(caller).patch(path, 0, new Uint8Array(4))).status).toBe(204)
    expect((await fetch(`${file.url}?download=1`)).status).toBe(200)
    await host.runJobs()
    const after = await read()
    const more = (what: Counted) => after.sum(what) - before.sum(what)
    expect([more('uploads'), more('downloads')]).toEqual([2, 1])
    expect(more('requests')).toBeGreaterThanOrEqual(5)
    expect(more('bytes_in')).toBeGreaterThanOrEqual(size + 4)
    expect(more('bytes_out')).toBeGreaterThanOrEqual(size)
    expect(after.days.at(-1)).toMatchObject(after.now)
    expect(after.now.files).toBe(before.now.files + 2)
    const days = after.days.map(({ day }) => Date.parse(day))
    expect(days.map((time) => time - (days[0] ?? 0))).toEqual([0, DAY, 2 * DAY])
    expect((await admin.get('/api/v1/admin/statistics?days=367')).error).toBe('INVALID_REQUEST')
  })

  test('name the newest and the largest files, whoever has them', async () => {
    const { caller, username } = await newcomer()
    const guest = await api(host).put('g'.repeat(19 * KB), { name: 'guest.bin' })
    const large = await caller.put('l'.repeat(20 * KB), { name: 'large.bin' })
    const file = z.object({ slug: z.string(), account: z.object({ username: z.string() }).nullable() })
    expect(await admin.read('/files?sort=size&per_page=2', z.array(file))).toEqual([
      { slug: large.slug, account: { username } },
      { slug: guest.slug, account: null },
    ])
    expect((await admin.read('/files?per_page=2', z.array(file))).map(({ slug }) => slug)).toEqual([
      large.slug,
      guest.slug,
    ])
    const folder = await caller.folder('put away')
    await caller.post('/api/v1/file/move', { file: large.slug, folder })
    await intoBin(caller, { folders: [folder] })
    expect(
      (await admin.read('/files?sort=size&per_page=1', z.array(file))).map(({ slug }) => slug),
    ).not.toEqual([large.slug])
  })

  test('name the settings in force without what is secret, the nodes, and the jobs', async () => {
    const setting = z.object({
      name: z.string(),
      value: z.string(),
      is_default: z.boolean(),
      is_secret: z.boolean(),
    })
    const settings = await admin.read('/settings', z.array(setting))
    expect(settings.find(({ name }) => name === 'HOLDFAST_BIN_DAYS')).toEqual({
      name: 'HOLDFAST_BIN_DAYS',
      value: '7',
      is_default: true,
      is_secret: false,
    })
    expect(settings.filter(({ is_secret }) => is_secret).length).toBeGreaterThan(0)
    const nodes = await admin.read(
      '/nodes',
      z.array(z.object({ is_this: z.boolean(), host: z.string(), address: z.string(), version: z.string() })),
    )
    expect(nodes.length).toBe(onCluster ? 3 : 1)
    expect(nodes.filter(({ is_this }) => is_this).length).toBe(1)
    await host.runJobs()
    const job = z.object({
      name: z.string(),
      state: z.string(),
      failures: z.number(),
      ended_at: z.string().nullable(),
    })
    const { jobs } = await admin.read('/jobs', z.object({ jobs: z.array(job) }))
    expect(jobs.find(({ name }) => name === 'purge deleted files')).toMatchObject({
      failures: 0,
      ended_at: expect.any(String),
    })
  })

  test('name a job that was set aside with what failed, until it is tried again', async () => {
    const name = 'a job of another version'
    await sql`insert into jobs (name, failures, ended_at, failure, failed_at)
      values (${name}, 5, 1, 'Error: no', 1)`.execute(host.database)
    const job = z.object({ name: z.string(), state: z.string(), failure: z.string().nullable() })
    const status = async () => {
      const { jobs } = await admin.read('/jobs', z.object({ jobs: z.array(job) }))
      return jobs.find((each) => each.name === name)
    }
    expect(await status()).toEqual({ name, state: 'set aside', failure: 'Error: no' })
    await admin.act('POST', '/jobs/retry', { job: name })
    expect(await status()).toMatchObject({ state: 'waiting' })
    expect((await admin.deeds('job.retried'))[0]?.object).toBe(name)
    expect((await admin.send('POST', '/api/v1/admin/jobs/retry', { job: name })).error).toBe('NOT_FOUND')
  })
})

describe('the notice', () => {
  const shown = async () => {
    const page = await (await fetch(host.url, { headers: { accept: 'text/html' } })).text()
    return /<aside[^>]*class="site-notice (\w+)"[^>]*>([^<]+)</.exec(page)?.slice(1) ?? null
  }

  /** Asked often enough to have met every node. */
  async function isShownByAll(wanted: readonly string[] | null): Promise<boolean> {
    const all = await Promise.all(Array.from({ length: 12 }, shown))
    return all.every((each) => Bun.deepEquals(each, wanted))
  }

  test('is on every page at every node, as plain text, and on none once it is taken away', async () => {
    const text = '<b>Maintenance</b> & more\u202e'
    await admin.act('POST', '/notice', { text, level: 'warning' })
    const told = ['warning', '&lt;b&gt;Maintenance&lt;/b&gt; &amp; more']
    await eventually('every node shows it', () => isShownByAll(told))
    for (const path of ['/sign-in', '/docs', '/d/nothing', '/files']) {
      const headers = { accept: 'text/html', ...sessionHeaders(admin) }
      expect(await (await fetch(host.url + path, { headers })).text()).toContain('site-notice warning')
    }
    const open = z.object({ data: z.object({ notice: z.unknown() }) })
    const { data } = open.parse((await api(host).get('/api/v1/notice')).body)
    expect(data.notice).toEqual({ text: '<b>Maintenance</b> & more', level: 'warning' })
    await admin.act('DELETE', '/notice')
    await eventually('no node shows it', () => isShownByAll(null))
    expect((await admin.deeds('notice.set'))[0]?.details).toMatchObject({ level: 'warning' })
    expect((await admin.deeds('notice.cleared')).length).toBe(1)
  })

  test.skipIf(onCluster)('is shown from its time on and until its time', async () => {
    const at = (ahead: number) => new Date(host.clock.now() + ahead).toISOString()
    await admin.act('POST', '/notice', { text: 'Soon', level: 'info', from: at(HOUR), until: at(2 * HOUR) })
    expect(await shown()).toBeNull()
    host.clock.advance(HOUR + 1000)
    expect(await shown()).toEqual(['info', 'Soon'])
    host.clock.advance(HOUR)
    expect(await shown()).toBeNull()
  })

  test.each([
    ['it says nothing', { text: '  ', level: 'info' }],
    ['it is too long', { text: 'x'.repeat(501), level: 'info' }],
    ['there is no such level', { text: 'x', level: 'loud' }],
    [
      'it is over before it begins',
      { text: 'x', level: 'info', from: '2030-01-02T00:00:00Z', until: '2030-01-01T00:00:00Z' },
    ],
    ['it is over already', { text: 'x', level: 'info', until: '2020-01-01T00:00:00Z' }],
    ['its time is none', { text: 'x', level: 'info', until: 'tomorrow' }],
  ])('is refused when %s', async (_, notice) => {
    expect((await admin.send('POST', '/api/v1/admin/notice', notice)).error).toBe('INVALID_REQUEST')
  })
})
