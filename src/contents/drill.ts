/** Rehearses a restore into a scratch place, and compares files served from there with their hashes. */
import { stat, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import { createKeys } from '../accounts/keys.ts'
import type { Config } from '../config.ts'
import { signedAddress } from '../contract/public.ts'
import { isBlank } from '../database/migrate.ts'
import { chunksUnlessAborted } from '../domain/abort.ts'
import { SCOPES } from '../domain/access.ts'
import { MINUTE } from '../domain/clock.ts'
import { disposing } from '../domain/disposing.ts'
import { preconditionFailed } from '../domain/errors.ts'
import { formatSize } from '../domain/sizes.ts'
import { connect, databaseExists } from '../storage.ts'
import { seenOf } from './backup-place.ts'
import { type SampledFile, sampleOfFiles } from './copied.rows.ts'
import type { MarkState } from './mark-copies.ts'
import { pointsOf, type Restored, type Restoring, restore } from './restore.ts'
import { makeScratch } from './scratch.ts'

export type { Outcome } from './own-backups.ts'

/** A local server that takes longer hangs; it sends at least a megabyte a second. */
const ANSWERS_WITHIN = MINUTE
/** Bytes a millisecond. */
const SLOWEST = 1000

export interface Drill extends Omit<Restoring, 'at' | 'atLeast' | 'onFound'> {
  readonly scratch: string
  readonly sample: number
  readonly start: (config: Config) => Promise<{ readonly url: string; stop(): Promise<void> }>
}

export interface Drilled extends Restored {
  readonly files: number
  readonly bytes: number
  readonly wrong: readonly WrongFile[]
}

export interface WrongFile {
  readonly slug: string
  readonly name: string
  readonly owner: string
  readonly reason: string
}

/** Leaves nothing behind. Throws Refusal PRECONDITION_FAILED when the newest point cannot be restored. */
export async function drill(given: Drill): Promise<Drilled> {
  await assertRoom(given)
  return disposing(async (open) => {
    const scratch = open.use(await makeScratch(given.scratch))
    const config = scratchConfig(given.config, join(scratch.path, 'data'))
    const atLeast = await seenBefore(given)
    const restored = await restore({ ...given, config, at: null, atLeast, onFound() {} })
    const { sample, keys } = await drawSample({ ...given, config })
    const server = await given.start(config)
    open.defer(() => server.stop())
    const wrong: WrongFile[] = []
    for (const file of sample) {
      given.signal.throwIfAborted()
      const reason = await readBack(server.url, file, keys.get(file.owner), given.signal)
      if (reason !== null) wrong.push({ slug: file.slug, name: file.name, owner: file.owner, reason })
    }
    const bytes = sample.reduce((sum, { size }) => sum + size, 0)
    return { ...restored, files: sample.length, bytes, wrong }
  })
}

async function seenBefore(given: Drill): Promise<MarkState | null> {
  if (!databaseExists(given.config)) return null
  const { db, close } = await connect({ ...given, report() {} })
  try {
    const seen = (await isBlank(db)) ? null : await seenOf(db, given.place)
    // A killed backup has left the previous or the next series.
    return seen?.opening === null ? seen : null
  } finally {
    await close()
  }
}

async function assertRoom(given: Drill): Promise<void> {
  const newest = (await pointsOf(given)).at(-1)
  if (newest === undefined) throw preconditionFailed('the backup has no point yet')
  const { bavail, bsize } = await statfs(given.scratch)
  const room = bavail * bsize - (await keptFree(given))
  if (newest.bytes < room) return
  throw preconditionFailed(
    `${given.scratch} has room for ${formatSize(Math.max(0, room))}, and the backup has ${formatSize(newest.bytes)}: name a folder on a larger disk with --scratch or HOLDFAST_DRILL_FOLDER`,
  )
}

/** On the data folder's disk, uploads keep their free space. */
async function keptFree({ scratch, config }: Drill): Promise<number> {
  const [its, data] = await Promise.all([stat(scratch), stat(config.dataDir).catch(() => null)])
  return its.dev === data?.dev ? config.minFreeSpace : 0
}

function scratchConfig(config: Config, dataDir: string): Config {
  return {
    ...config,
    dataDir,
    host: '127.0.0.1',
    port: 0,
    publicUrl: null,
    contentUrl: null,
    databaseUrl: null,
    s3: null,
    s3Redirect: false,
    mirror: null,
    backup: { ...config.backup, own: null },
    trustedProxies: [],
    oidc: null,
    mail: null,
    metrics: null,
    thumbnails: false,
    guestUploads: false,
    rateLimit: 1_000_000,
    guestRateLimit: 1_000_000,
  }
}

interface Sample {
  readonly sample: readonly SampledFile[]
  /** API keys by the owner's name. Guests' files are public. */
  readonly keys: ReadonlyMap<string, string>
}

async function drawSample(given: Drill): Promise<Sample> {
  const { db, close } = await connect({ ...given, report() {} })
  try {
    const sample = await sampleOfFiles(db, given.sample)
    const owners = new Set(sample.filter(({ isGuests }) => !isGuests).map(({ owner }) => owner))
    const made = createKeys(db, given.clock, given.random)
    const keys = new Map<string, string>()
    for (const owner of owners) {
      const grant = { name: 'drill', scopes: SCOPES, folder: null, expiresAt: null }
      keys.set(owner, (await made.add(owner, grant)).apiKey)
    }
    return { sample, keys }
  } finally {
    await close()
  }
}

/** Null for a file that equals what was uploaded. */
async function readBack(
  url: string,
  { slug, size, sha256 }: SampledFile,
  key: string | undefined,
  signal: AbortSignal,
): Promise<string | null> {
  const limit = AbortSignal.any([signal, AbortSignal.timeout(ANSWERS_WITHIN + size / SLOWEST)])
  const asked = await fetch(`${url}/v2/api/public/download`, {
    method: 'POST',
    headers: {
      'Content-Type': 'application/json',
      ...(key === undefined ? {} : { Authorization: `Bearer ${key}` }),
    },
    body: JSON.stringify({ file_slug: slug }),
    signal: limit,
  })
  const signed = signedAddress.safeParse(await asked.json().catch(() => null))
  if (!signed.success) return `its address was refused (status ${asked.status})`
  const { file, token } = signed.data
  const address = `${url}/v2/${file}?token=${encodeURIComponent(token)}&download=true`
  const answer = await fetch(address, { signal: limit })
  if (answer.status !== 200 || answer.body === null) return `it was answered with status ${answer.status}`
  const hash = new Bun.CryptoHasher('sha256')
  try {
    for await (const chunk of chunksUnlessAborted(limit, answer.body)) hash.update(chunk)
  } catch {
    signal.throwIfAborted()
    return 'its download broke off'
  }
  return hash.digest('hex') === sha256 ? null : 'it has other bytes'
}
