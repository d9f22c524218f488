/** A server with a mirror, and what lies in both stores behind its back. */

import { rmSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Config, StorePlace } from '../../../src/config.ts'
import { type MirrorCommand, runMirrorCommand } from '../../../src/contents/mirror.ts'
import type { BlobKey } from '../../../src/domain/ids.ts'
import { systemRandom } from '../../../src/domain/random.ts'
import { createLog, type Log } from '../../../src/log.ts'
import { openPlace } from '../../../src/storage.ts'
import { GENEROUS, signedAddress, textBytes, type Uploaded, upload, visit } from '../clients/public.ts'
import { onCluster, startHoldfast, type TestHoldfast } from '../servers/holdfast.ts'
import { bytesOf, keysOf } from '../storage/blob-chunks.ts'
import { newBucket, whyNoCeph } from '../storage/ceph.ts'
import { contentOf } from '../storage/stored-contents.ts'

const RATE = 1024 ** 3

/** Of the other kind than the pair's own store is, with `crosswise` and where there is one. */
export async function newPlace(crosswise: boolean): Promise<StorePlace> {
  return onCluster !== crosswise && whyNoCeph() === null
    ? { kind: 's3', s3: await newBucket() }
    : { kind: 'folder', path: join(await mkdtemp(join(tmpdir(), 'holdfast-mirror-')), 'mirror') }
}

export function removePlace(place: StorePlace): void {
  if (place.kind === 'folder') rmSync(join(place.path, '..'), { recursive: true, force: true })
}

export type Mirrored = Awaited<ReturnType<typeof startMirrored>>

export async function startMirrored(settings: Partial<Config> = {}, given?: StorePlace, log?: Log) {
  const place = given ?? (await newPlace(false))
  const mirror = { place, rate: RATE, scrubDays: 30 }
  const host = await startHoldfast({ ...GENEROUS, mirror, ...settings }, log)
  let opened: ReturnType<typeof openPlace> | null = null
  const store = () => (opened ??= openPlace(place, systemRandom))
  const keep = keeper(host, { mirror })
  return {
    host,
    place,
    store,
    keep,
    ...actions(host, keep),
    /** Keys in the mirror, sorted. */
    copies: async () => (await keysOf(await store())).sort(),
    textOf: async (key: BlobKey) => {
      const mirrored = await store()
      return String(await bytesOf(await mirrored.read(key, 0, (await mirrored.size(key)) ?? 0)))
    },
    async stop() {
      await host.stop()
      removePlace(place)
    },
  }
}

/** What the server's job does in a process of its own, in this one and by the clock of the test. */
function keeper(host: TestHoldfast, settings: Pick<Config, 'mirror'>) {
  return (changes: Partial<MirrorCommand> = {}) =>
    runMirrorCommand({
      config: { ...host.config, ...settings },
      clock: host.clock,
      random: systemRandom,
      adopts: false,
      keeps: 'newest first',
      reads: null,
      rate: null,
      signal: new AbortController().signal,
      watch: { begin() {}, advance() {} },
      log: createLog('silent', { terminal: false }),
      ...changes,
    })
}

function actions(host: TestHoldfast, keep: () => Promise<unknown>) {
  const rowOf = (slug: string) => rowById(host, slug)
  return {
    /** Uploads a text as a file, and copies what is to be copied. */
    async stored(text: string, key?: string) {
      const name = `${text.slice(0, 50)}.txt`
      const file = await upload(host, { name, bytes: textBytes(text), ...(key ? { key } : {}) })
      await keep()
      return { ...file, ...(await rowOf(file.slug)) }
    },
    rowOf,
    /** The download of a file: status, body, and after how many seconds to come again. */
    async downloaded(file: Uploaded, init: RequestInit = {}) {
      const answer = await visit(host, await signedAddress(host, file, 'download'), init)
      const text = answer.status < 400 ? await answer.text() : ''
      return { status: answer.status, text, retryAfter: answer.headers.get('retry-after') }
    },
  }
}

async function rowById(host: TestHoldfast, slug: string) {
  const { id } = await contentOf(host, slug)
  const row = await host.database
    .selectFrom('blobs')
    .select(['id', 'key', 'mirrored_key', 'damaged_key'])
    .where('id', '=', id)
    .executeTakeFirstOrThrow()
  return { id, key: row.key, copy: row.mirrored_key, isMarked: row.damaged_key === row.key }
}

/** The key of a copy that has to be there. */
export function copyOf({ copy }: { readonly copy: BlobKey | null }): BlobKey {
  if (copy === null) throw new Error('the content has no copy in the mirror')
  return copy
}

/** The answer to the download of a content that is whole. */
export function whole(text: string) {
  return { status: 200, text, retryAfter: null }
}
