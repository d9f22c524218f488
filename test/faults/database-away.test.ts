// Only in test:all: a database that stands still.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { chance } from '../support/chance.ts'
import { readBack } from '../support/clients/caller.ts'
import { type Attempt, type Load, startLoad } from '../support/clients/upload-load.ts'
import { type PostgresServer, startPostgres } from '../support/databases/postgres.ts'
import { eventually } from '../support/eventually.ts'
import type { ChildAccount, ChildServer } from '../support/processes/child.ts'
import {
  onSharedServers,
  type SharedInstallation,
  sharedInstallation,
} from '../support/servers/shared-installation.ts'
import { roomGivenBack, unsoundness } from '../support/storage/soundness.ts'

const KIB = 1024
const MIB = 1024 * KIB
/** What the database is given after it is back until every node works again. */
const HEALED_WITHIN = 10

onSharedServers('two nodes under a load of uploads', () => {
  const open = new AsyncDisposableStack()
  let postgres: PostgresServer
  let installation: SharedInstallation
  let alice: ChildAccount
  let nodes: ChildServer[]

  beforeAll(async () => {
    postgres = open.adopt(await startPostgres(), (server) => server.stop())
    installation = open.use(await sharedInstallation({ databaseUrl: postgres.url }))
    alice = await installation.addAccount('alice')
    nodes = await Promise.all([installation.startNode(), installation.startNode()])
  })
  afterAll(() => open.disposeAsync())

  const urls = () => nodes.map(({ url }) => url)

  function load(seed: number): Load {
    return startLoad({
      nodes: urls(),
      key: alice.apiKey,
      clients: 8,
      // Also some that go to the store in parts.
      sizes: [10, 100 * KIB, 100 * KIB, 9 * MIB],
      random: chance(seed),
    })
  }

  /** Whoever watches over nodes does not wait for long. */
  const soon = (address: string) => fetch(address, { signal: AbortSignal.timeout(10_000) })

  /** Waits until both nodes have stored something since now, and say that they are ready. */
  async function bothStore(running: Load): Promise<void> {
    const stored = () =>
      urls().map(
        (url) => running.attempts.filter(({ node, answer }) => node === url && answer?.status === 200).length,
      )
    const before = stored()
    const isMore = () => stored().every((count, at) => count >= (before[at] ?? 0) + 4)
    await eventually('both nodes store files', isMore, HEALED_WITHIN)
    for (const url of urls()) expect((await soon(`${url}/ready`)).status).toBe(200)
  }

  /**
   * Every answer was a success or asks to come again, and the files are those of the successes, besides what the server did
   * not know the end of, and said so.
   */
  async function expectAnswered(attempts: readonly Attempt[]): Promise<void> {
    const odd = attempts.filter(
      ({ answer }) =>
        answer?.status !== 200 && !(answer?.status === 503 && /^\d+$/.test(answer.retryAfter ?? '')),
    )
    expect(odd).toEqual([])
    const rows = await installation.database
      .selectFrom('files')
      .select(['name', 'size'])
      .where('removed_at', 'is', null)
      .execute()
    const told = attempts.filter(({ answer }) => answer?.status === 200)
    const named = (files: readonly { name: string; size: number }[]) =>
      files.map(({ name, size }) => `${name} ${size}`).sort()
    const unsure = named(attempts.filter(({ answer }) => answer?.body.includes('whether this was done')))
    expect(named(rows).filter((file) => !unsure.includes(file))).toEqual(named(told))
  }

  async function expectReadable(attempts: readonly Attempt[]): Promise<void> {
    for (const [at, { answer, size, sha256 }] of attempts.entries()) {
      if (typeof answer?.slug !== 'string') continue
      expect(await readBack(urls()[at % 2] ?? '', answer.slug)).toEqual({ size, sha256 })
    }
  }

  /** Lets the database stand still until both nodes have said so, and go on. */
  async function expectNotReadyWhilePaused(): Promise<void> {
    postgres.pause()
    try {
      await Promise.all(
        urls().map(async (url) => {
          await eventually('the node says that it is not ready', async () => {
            const ready = await soon(`${url}/ready`)
            if (ready.status === 200) return false
            expect(ready.status).toBe(503)
            expect(ready.headers.get('retry-after')).toMatch(/^\d+$/)
            expect(await ready.json()).toMatchObject({ database: 'down', store: 'ok' })
            return true
          })
          expect((await soon(`${url}/health`)).status).toBe(200)
        }),
      )
    } finally {
      postgres.resume()
    }
  }

  async function removeAll(): Promise<void> {
    const identifiers = (await installation.database.selectFrom('files').select('slug').execute()).map(
      ({ slug }) => slug,
    )
    for (let at = 0; at < identifiers.length; at += 100) {
      const response = await fetch(`${urls()[0]}/api/v1/file/delete`, {
        method: 'POST',
        headers: { authorization: `Bearer ${alice.apiKey}`, 'content-type': 'application/json' },
        body: JSON.stringify({ identifiers: identifiers.slice(at, at + 100) }),
      })
      expect(response.status).toBe(200)
    }
    await installation.runJobs()
  }

  test('lose nothing when PostgreSQL is ended at once and comes back', async () => {
    const running = load(1)
    await bothStore(running)
    for (let round = 0; round < 2; round++) {
      await postgres.restartImmediate()
      await bothStore(running)
    }
    await running.stop()
    await expectAnswered(running.attempts)
    await expectReadable(running.attempts)
    await roomGivenBack(installation)
    await installation.runJobs()
    expect(await unsoundness(installation)).toEqual([])
    await removeAll()
  })

  test('say that the database is away while it stands still, and go on when it does', async () => {
    const running = load(2)
    await bothStore(running)
    await expectNotReadyWhilePaused()
    await bothStore(running)
    await running.stop()
    await expectAnswered(running.attempts)
    await expectReadable(running.attempts)
    await roomGivenBack(installation)
    await installation.runJobs()
    expect(await unsoundness(installation)).toEqual([])
  })

  test('say so also while their connections are idle', async () => {
    const headers = { authorization: `Bearer ${alice.apiKey}` }
    for (const url of urls()) {
      // Each of them leaves a connection on which a question would wait for half a minute.
      await Promise.all(Array.from({ length: 8 }, () => fetch(`${url}/api/v1/files`, { headers })))
    }
    await expectNotReadyWhilePaused()
    await Promise.all(
      urls().map((url) =>
        eventually('it is ready again', async () => (await soon(`${url}/ready`)).ok, HEALED_WITHIN),
      ),
    )
  })
})
