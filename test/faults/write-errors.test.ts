/** A disk that fails at one call of an upload: at any write, sync, rename or open, of contents and of the database. */
// Only in test:all: rounds of failing calls; sync-failures has each sync.
import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { z } from 'zod'
import { chance } from '../support/chance.ts'
import { caller, readBack, sha256 } from '../support/clients/caller.ts'
import { guestAt, type Tus, tus } from '../support/clients/tus.ts'
import { eventually } from '../support/eventually.ts'
import { sendWhole } from '../support/network/whole-upload.ts'
import {
  addAccount,
  type ChildAccount,
  type ChildServer,
  startChild,
  temporaryFolder,
} from '../support/processes/child.ts'
import { failNow, type PassingFault } from '../support/processes/system-calls.ts'
import { describeWith } from '../support/processes/tools.ts'
import { inconsistencies, unfinishedBlobs } from '../support/storage/blob-folder.ts'

const KIB = 1024
/** Stored in one piece where it comes in one request, and as it comes. */
const SMALL = 200 * KIB
const STREAMED = 400 * KIB
const SETTINGS = { MIN_FREE_SPACE: '1MB', SCRUB_DAYS: '0', RATE_LIMIT: '1000000' }
/** More calls of a kind than one upload makes. */
const MOST = 500
/** So many calls are all tried, and further and further ones of those behind. */
const EACH_OF = 4

const CALLS = {
  write: ['pwrite64', 'pwritev'],
  sync: ['fdatasync', 'fsync'],
  rename: ['rename', 'renameat', 'renameat2'],
  open: ['openat', 'open'],
} as const

type Content = Uint8Array<ArrayBuffer>

/** What came of an upload while the disk failed. */
interface Attempt {
  /** Statuses of all answers; null for a connection that broke. */
  readonly statuses: readonly (number | null)[]
  /** Of the file, where the upload was answered as whole. */
  readonly slug: string | null
  /** Sends the rest to a server that works, where some was answered as kept. Returns the slug. */
  readonly resume: ((url: string) => Promise<string>) | null
}

type Way = (url: string, account: ChildAccount, content: Content) => Promise<Attempt>

const acknowledged = z.object({ slug: z.string() })

const inOneRequest: Way = async (url, { apiKey }, content) => {
  const answer = await sendWhole(url, apiKey, content).catch(() => null)
  if (answer === null) return { statuses: [null], slug: null, resume: null }
  const { slug } = acknowledged.partial().parse(JSON.parse(answer.body))
  return { statuses: [answer.status], slug: slug ?? null, resume: null }
}

const inParts: Way = async (url, account, content) => {
  const statuses: (number | null)[] = []
  const told = async <T extends { readonly status: number }>(sent: Promise<T>): Promise<T | null> => {
    const answer = await sent.catch(() => null)
    statuses.push(answer?.status ?? null)
    return answer !== null && answer.status < 300 ? answer : null
  }
  const created = await told(resumable(url, account).create({ 'upload-length': String(content.length) }))
  if (created === null) return { statuses, slug: null, resume: null }
  const { slug } = acknowledged.parse(created.body)
  const path = created.headers.get('location') ?? ''
  const half = content.length / 2
  const isBegun = await told(resumable(url, account).patch(path, 0, content.slice(0, half)))
  const isWhole = isBegun && (await told(resumable(url, account).patch(path, half, content.slice(half))))
  return {
    statuses,
    slug: isWhole ? slug : null,
    async resume(to) {
      const upload = resumable(to, account)
      const offset = await upload.offset(path)
      expect(offset).toBeGreaterThanOrEqual(isBegun ? half : 0)
      const { status } = await upload.patch(path, offset, content.slice(offset))
      expect(status).toBe(204)
      return slug
    },
  }
}

function resumable(url: string, { apiKey }: ChildAccount): Tus {
  const { send, get } = guestAt(url)
  const authorization = `Bearer ${apiKey}`
  return tus({
    send: (path, init) =>
      send(path, { ...init, headers: { ...Object.fromEntries(new Headers(init?.headers)), authorization } }),
    get: (path, headers) => get(path, { ...headers, authorization }),
  })
}

const WAYS = { 'in one request': inOneRequest, 'in parts': inParts } as const

const cases = [
  ...(['write', 'sync', 'rename', 'open'] as const).flatMap(
    (kind) =>
      [
        [kind, 'EIO', 'in one request'],
        [kind, 'EIO', 'in parts'],
      ] as const,
  ),
  // A disk that is really full is in disk-full.test.ts.
  ['write', 'ENOSPC', 'in one request'],
] as const

describeWith(['strace'], 'an upload for which the disk fails once', () => {
  test.each(cases)(
    'at any %s, with %s, %s: is whole or refused, and the next one is taken',
    async (kind, error, way) => {
      await using host = await started(WAYS[way], kind === 'rename' ? STREAMED : SMALL)
      const calls = CALLS[kind]
      let missed = 0
      let nth = 1
      // Each thread counts its own calls, so one round without a failure may be chance.
      for (; missed < 2 && nth < MOST; nth += Math.ceil(nth / EACH_OF)) {
        const hasFailed = await host.round({ calls, error, nth }, kind === 'sync')
        missed = hasFailed ? 0 : missed + 1
      }
      expect(missed).toBe(2)
      expect(nth).toBeGreaterThan(3)
      await host.end()
    },
    300_000,
  )
})

interface Host extends AsyncDisposable {
  /** One upload with that fault; whether the fault has come. */
  round(fault: PassingFault, mayEnd: boolean): Promise<boolean>
  /** Stops the server, and looks at what is left. */
  end(): Promise<void>
}

async function started(way: Way, size: number): Promise<Host> {
  await using stack = new AsyncDisposableStack()
  const dataDir = join(stack.use(temporaryFolder()).path, 'data')
  const account = await addAccount(dataDir, 'ann')
  let server: ChildServer = await startChild(dataDir, SETTINGS)
  stack.defer(() => server.kill())
  const all = stack.move()
  /** Hashes by slug. */
  const kept = new Map<string, string>()
  const listed = async () => (await caller(server.url, account.apiKey).files()).map(({ slug }) => slug)

  /** Whether it has ended because commits could not be made durable; then another one is started. */
  async function restarted(): Promise<boolean> {
    const isAlive = await fetch(`${server.url}/health`).then(
      () => true,
      () => false,
    )
    if (isAlive) return false
    await server.exited
    expect(server.output()).toContain('the write-ahead log of the database could not be synced')
    server = await startChild(dataDir, SETTINGS)
    return true
  }

  /** After a failure of the store the server has to try it first. */
  async function takesUploads(seed: number): Promise<void> {
    const content = chance(seed).bytes(100)
    await eventually('an upload is taken again', async () => {
      await fetch(`${server.url}/ready`)
      const { slug } = await inOneRequest(server.url, account, content)
      if (slug !== null) kept.set(slug, sha256(content))
      return slug !== null
    })
  }

  return {
    async round(fault, mayEnd) {
      const content = chance(fault.nth).bytes(size)
      const heal = await failNow(server.pid, fault)
      const { statuses, slug, resume } = await way(server.url, account, content)
      const failures = await heal()
      const hasEnded = await restarted()
      expect(hasEnded && !mayEnd).toBe(false)
      for (const status of statuses) {
        if (status === null || status >= 300) expect([500, 503, hasEnded ? null : 503]).toContain(status)
      }
      if (slug === null && !hasEnded && resume === null)
        expect((await listed()).sort()).toEqual([...kept.keys()].sort())
      await takesUploads(1000 + fault.nth)
      const whole = slug ?? (resume === null ? null : await resume(server.url))
      if (whole !== null) kept.set(whole, sha256(content))
      for (const each of await listed()) {
        // Committed, but the answer did not come.
        if (!kept.has(each) && hasEnded) kept.set(each, sha256(content))
      }
      if (whole !== null) expect(await readBack(server.url, whole)).toMatchObject({ sha256: sha256(content) })
      await eventually('nothing unfinished stays', () => unfinishedBlobs(dataDir).length === 0)
      return failures > 0 || hasEnded
    },

    async end() {
      expect((await listed()).sort()).toEqual([...kept.keys()].sort())
      for (const [slug, hash] of kept)
        expect(await readBack(server.url, slug)).toMatchObject({ sha256: hash })
      await server.stop()
      // The next start removes what could not be removed.
      server = await startChild(dataDir, SETTINGS)
      await server.stop()
      expect(inconsistencies(dataDir, { cleaned: true })).toEqual([])
    },
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  }
}
