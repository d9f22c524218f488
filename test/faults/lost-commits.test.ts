// Only in test:all: ten seconds in which a database might come back.
import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test'
import { sql } from 'kysely'
import { chance } from '../support/chance.ts'
import { readBack, sha256, uploadResult } from '../support/clients/caller.ts'
import { type PostgresProxy, startPostgresProxy } from '../support/databases/postgres-proxy.ts'
import { eventually } from '../support/eventually.ts'
import type { ChildAccount, ChildServer } from '../support/processes/child.ts'
import {
  onSharedServers,
  type SharedInstallation,
  sharedInstallation,
} from '../support/servers/shared-installation.ts'
import { roomGivenBack, unsoundness } from '../support/storage/soundness.ts'

/** The transactions of an upload, by what only they do: the one that stores it, and the one before that. */
const STORING = 'insert into files'
const SETTING_ASIDE = 'insert into reservations'
const random = chance(31)

onSharedServers('a commit between a node and PostgreSQL', () => {
  const open = new AsyncDisposableStack()
  let installation: SharedInstallation
  let proxy: PostgresProxy
  let alice: ChildAccount
  let node: ChildServer

  beforeAll(async () => {
    installation = open.use(await sharedInstallation())
    alice = await installation.addAccount('alice')
    proxy = open.adopt(await startPostgresProxy(installation.settings.DATABASE_URL ?? ''), (it) => it.stop())
    node = await installation.startNode({ DATABASE_URL: proxy.url })
  })
  beforeEach(() => proxy.comeBack())
  afterAll(() => open.disposeAsync())

  interface Outcome {
    readonly status: number
    readonly retryAfter: string | null
    readonly rows: number
    readonly slug: string | null
    readonly content: Uint8Array
  }

  /** What the client was told of an upload, and how often it is there. */
  async function upload(): Promise<Outcome> {
    const name = `${crypto.randomUUID()}.bin`
    const content = random.bytes(50_000)
    const form = new FormData()
    form.set('file', new File([content], name))
    const response = await fetch(`${node.url}/api/v1/upload`, {
      method: 'POST',
      headers: { authorization: `Bearer ${alice.apiKey}` },
      body: form,
      keepalive: false,
    })
    const text = await response.text()
    const { status, headers } = response
    const rows = await installation.database
      .selectFrom('files')
      .select('id')
      .where('name', '=', name)
      .execute()
    return {
      status,
      retryAfter: headers.get('retry-after'),
      rows: rows.length,
      slug: status === 200 ? uploadResult.parse(JSON.parse(text)).slug : null,
      content,
    }
  }

  async function expectSound(): Promise<void> {
    await roomGivenBack(installation)
    await installation.runJobs()
    expect(await unsoundness(installation)).toEqual([])
  }

  test('that was carried out and whose answer was lost is a success', async () => {
    proxy.lose('after', STORING)
    const before = proxy.lost()
    const { status, rows, slug, content } = await upload()
    expect(proxy.lost()).toBe(before + 1)
    expect({ status, rows }).toEqual({ status: 200, rows: 1 })
    expect(await readBack(node.url, slug ?? '')).toEqual({ size: content.length, sha256: sha256(content) })
    await expectSound()
  })

  test('whose answer was lost is a success also when the database comes back seconds later', async () => {
    proxy.lose('after', STORING, { thenAway: true })
    const before = proxy.lost()
    const uploaded = upload()
    await eventually('the commit is lost', () => proxy.lost() > before)
    await Bun.sleep(3000)
    proxy.comeBack()
    expect(await uploaded).toMatchObject({ status: 200, rows: 1 })
    await expectSound()
  })

  test('that never arrived stores nothing and says so', async () => {
    proxy.lose('before', STORING)
    const before = proxy.lost()
    expect(await upload()).toMatchObject({
      status: 503,
      retryAfter: expect.stringMatching(/^\d+$/),
      rows: 0,
    })
    expect(proxy.lost()).toBe(before + 1)
    expect(await upload()).toMatchObject({ status: 200, rows: 1 })
    await expectSound()
  })

  test('that never arrived stores nothing also when the database comes back seconds later', async () => {
    proxy.lose('before', STORING, { thenAway: true })
    const before = proxy.lost()
    const uploaded = upload()
    await eventually('the commit is lost', () => proxy.lost() > before)
    await Bun.sleep(3000)
    proxy.comeBack()
    expect(await uploaded).toMatchObject({ status: 503, rows: 0 })
    await expectSound()
  })

  test('that the server has in hand when the connection ends is never guessed', async () => {
    for (let round = 0; round < 10; round++) {
      proxy.lose('during', STORING)
      const before = proxy.lost()
      const { status, rows } = await upload()
      expect(proxy.lost()).toBe(before + 1)
      expect([
        { status: 200, rows: 1 },
        { status: 503, rows: 0 },
      ]).toContainEqual({ status, rows })
    }
    await expectSound()
  })

  test('of the room for an upload takes no room for good, whichever way it is lost', async () => {
    for (const loss of ['before', 'during', 'after'] as const) {
      const before = proxy.lost()
      proxy.lose(loss, SETTING_ASIDE)
      const { status, rows, retryAfter } = await upload()
      expect({ loss, lost: proxy.lost(), status, rows }).toEqual({
        loss,
        lost: before + 1,
        status: 503,
        rows: 0,
      })
      expect(retryAfter).toMatch(/^\d+$/)
    }
    expect(await upload()).toMatchObject({ status: 200, rows: 1 })
    await expectSound()
  })

  test('whose end nobody could learn in time leaves a whole file or none', async () => {
    proxy.lose('after', STORING, { thenAway: true })
    const before = proxy.lost()
    const { status, retryAfter, rows } = await upload()
    expect(proxy.lost()).toBe(before + 1)
    expect(status).toBe(503)
    expect(retryAfter).toMatch(/^\d+$/)
    expect(rows).toBe(1)
    proxy.comeBack()
    await expectSound()
  })

  /** A request of alice's with a JSON body. */
  async function post(path: string, body: unknown): Promise<{ status: number; answer: unknown }> {
    const response = await fetch(`${node.url}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${alice.apiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
      keepalive: false,
    })
    return { status: response.status, answer: await response.json() }
  }

  test('that made a folder and whose answer was lost is a success', async () => {
    const before = proxy.lost()
    proxy.lose('after', 'insert into folders')
    const { status } = await post('/api/v1/folder', { name: 'made' })
    expect({ status, lost: proxy.lost() }).toEqual({ status: 201, lost: before + 1 })
    expect((await post('/api/v1/folder', { name: 'made' })).status).toBe(409)
  })

  test('that would have made a folder and never arrived is a failure that may be tried again', async () => {
    proxy.lose('before', 'insert into folders')
    const before = proxy.lost()
    expect((await post('/api/v1/folder', { name: 'not made' })).status).toBe(503)
    expect(proxy.lost()).toBe(before + 1)
    expect((await post('/api/v1/folder', { name: 'not made' })).status).toBe(201)
  })

  test('that deleted a file and whose answer was lost counts as a delete', async () => {
    const { slug } = await upload()
    proxy.lose('after', 'update files')
    const before = proxy.lost()
    const { status, answer } = await post('/file/delete', { identifiers: [slug] })
    expect(status).toBe(200)
    expect(proxy.lost()).toBe(before + 1)
    expect(answer).toMatchObject({ success: true, files_deleted: 1 })
    await expectSound()
  })

  test('is told by an outcome that does not stay for long', async () => {
    const { database } = installation
    const old = sql<{ id: string }>`
      select id from transaction_outcomes where written_at < now() - interval '1 hour'`
    await sql`update transaction_outcomes set written_at = written_at - interval '2 hours'`.execute(database)
    expect((await old.execute(database)).rows).not.toEqual([])
    await installation.runJobs()
    expect((await old.execute(database)).rows).toEqual([])
  })
})
