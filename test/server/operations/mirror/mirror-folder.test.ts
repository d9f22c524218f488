/** A mirror in a folder that hangs, is not mounted, is full or belongs to others; and the command, also when it is killed. */
// Only in test:all: many starts of the program; mirror.test.ts has some.
// Only on a folder: is about the place of the mirror; mirror.test.ts has a bucket on the cluster.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import {
  closeSync,
  constants,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import * as z from 'zod'
import { StoreFailure } from '../../../../src/blobs/blob-store.ts'
import { COPIES } from '../../../../src/contents/mark-copies.ts'
import {
  type Mirror,
  MirrorUnusable,
  openMirror,
  writeMirrorMark,
} from '../../../../src/contents/mirror-place.ts'
import { MirrorCopier } from '../../../../src/contents/mirror-sync.ts'
import { WrongStore } from '../../../../src/core/store/pairing.ts'
import { HOUR, MINUTE } from '../../../../src/domain/clock.ts'
import { systemRandom } from '../../../../src/domain/random.ts'
import { checkMirror } from '../../../../src/operations/doctor/mirror.ts'
import { MAIN, onlyThese } from '../../../support/cli/command.ts'
import { readMetrics } from '../../../support/clients/metrics.ts'
import { randomBytes, textBytes, upload, visit } from '../../../support/clients/public.ts'
import { eventually } from '../../../support/eventually.ts'
import { keptLog } from '../../../support/kept-log.ts'
import { environmentOf } from '../../../support/operations/commands.ts'
import {
  copyOf,
  type Mirrored,
  newPlace,
  startMirrored,
  whole,
} from '../../../support/operations/mirrored.ts'
import { temporaryFolder } from '../../../support/processes/child.ts'
import { startProgram } from '../../../support/processes/program.ts'
import { onCluster } from '../../../support/servers/holdfast.ts'
import { keysOf } from '../../../support/storage/blob-chunks.ts'
import { overridden } from '../../../support/storage/overridden.ts'
import { storeOf } from '../../../support/storage/stored-contents.ts'

const TOKEN = 'a-token-of-some-length'
const KB = 1024
/** Of the contents that are copied together, from the first to the last upload: the last ones are there before the others. */
const SIZES = [2048 * KB, 2048 * KB, KB, KB]

let it: Mirrored
let path: string
const log = keptLog()
beforeAll(async () => {
  const place = await newPlace(onCluster)
  if (place.kind === 'folder') path = place.path
  it = await startMirrored({ metrics: { token: TOKEN } }, place, log)
})
afterAll(() => it.stop())

const contents = () => it.host.database.selectFrom('blobs').select(['sha256', 'mirrored_key']).execute()
const copied = async () => (await contents()).filter(({ mirrored_key }) => mirrored_key !== null).length

/** Objects in the mirror, whole ones and, in a folder of their own, others. */
function objects() {
  const all = readdirSync(path, { recursive: true, encoding: 'utf8', withFileTypes: true })
  return all.filter((entry) => entry.isFile() && !['mark', 'mark-copy'].includes(entry.name))
}

const wholeObjects = () => objects().filter(({ parentPath }) => /\/[0-9a-f]{2}$/.test(parentPath)).length

/** The command as people run it. */
function command(words: readonly string[], stdin?: ReadableStream<Uint8Array>) {
  const settings = environmentOf(it.host.config)
  return startProgram([process.execPath, '--no-env-file', MAIN, ...words], {
    env: onlyThese({ ...settings, HOLDFAST_MIRROR: path, HOLDFAST_MIN_FREE_SPACE: '0' }),
    ...(stdin === undefined ? {} : { stdin }),
  })
}

const report = z.object({
  mirrored_contents: z.number(),
  mirrored_bytes: z.number(),
  lacking_contents: z.number(),
  damaged: z.array(z.object({ key: z.string(), reason: z.string() })),
})

describe('the command', () => {
  test('copies what is missing, and a kill of it leaves nothing that nobody knows of', async () => {
    for (const size of SIZES) await upload(it.host, { bytes: randomBytes(size) })
    // Half a minute for the large ones.
    const words = ['mirror', '--now', '--for-server', '--rate', '128KB']
    mkdirSync(path)
    for (const end of ['a kill', 'the end of the server'] as const) {
      const before = wholeObjects()
      const input = new TransformStream<Uint8Array, Uint8Array>()
      const running = command(words, input.readable)
      await eventually('the small ones are there', () => wholeObjects() >= before + 2)
      if (end === 'a kill') running.kill('SIGKILL')
      else await input.writable.close()
      const { errors } = await running.ended
      expect(await copied()).toBe(end === 'a kill' ? 0 : 2)
      if (end !== 'a kill') expect(errors).toContain('stopped')
    }
    const gone = (await contents()).find(({ mirrored_key }) => mirrored_key !== null)?.mirrored_key ?? ''
    rmSync(join(path, gone.slice(0, 2), gone))
    const { code, output } = await command(['mirror', '--now', '--read-data', '--json']).ended
    // Damaged copies are damage to programs, also when they are made anew.
    expect(code).toBe(3)
    const bytes = SIZES.reduce((sum, size) => sum + size, 0)
    const all = { mirrored_contents: SIZES.length, mirrored_bytes: bytes, lacking_contents: 0 }
    expect(report.parse(JSON.parse(output))).toEqual({ ...all, damaged: [{ key: gone, reason: 'missing' }] })
    const known = new Set<string>()
    for (const { sha256, mirrored_key: key } of await contents()) {
      const bytes = readFileSync(join(path, (key ?? '').slice(0, 2), key ?? ''))
      expect(new Bun.CryptoHasher('sha256').update(bytes).digest('hex')).toBe(sha256)
      known.add(key ?? '')
    }
    const queue = await it.host.database.selectFrom('mirror_garbage').selectAll().execute()
    // All four of the one that was killed, the large ones of the other, and the one that was gone.
    expect(queue).toHaveLength(7)
    for (const { key, due_at } of queue) {
      expect(known.has(key)).toBe(false)
      expect(due_at).toBeGreaterThan(Date.now() + HOUR)
      known.add(key)
    }
    expect(objects().filter(({ name }) => !known.has(name))).toEqual([])
  }, 120_000)

  test('fills a store that has lost everything but its mark, by a check, which then asks nobody to bring anything back', async () => {
    const file = await it.stored('lost with all others')
    const store = await storeOf(it.host)
    const mark = (await store.readMark()) ?? ''
    await store.removeAll(await keysOf(store), () => {})
    await store.writeMark(mark)
    const { code, output, errors } = await command(['check', '--repair']).ended
    expect(code).toBe(3)
    expect(errors).toContain('its bytes are fetched from a second copy')
    expect(output).toContain('put right')
    // Nothing is left for a person to bring back.
    expect(output).not.toContain('ring the content back')
    expect(output).not.toContain('brings no content back')
    expect(await it.downloaded(file)).toEqual(whole('lost with all others'))
  })
})

async function oldest(): Promise<number> {
  // What the database is asked is remembered for a while.
  it.host.clock.advance(MINUTE)
  return (await readMetrics(it.host, TOKEN)).sum('holdfast_mirror_oldest_seconds')
}

async function levelOfFinding(failure: string | null = null) {
  const { config, clock, database: db } = it.host
  const job = {
    name: 'keep the mirror',
    state: 'waiting',
    node: null,
    ended_at: null,
    failures: 0,
    failed_at: null,
  } as const
  const found = await checkMirror({ db, config, clock }, { list: async () => [{ ...job, failure }] })
  return found.level
}

test('metrics and the doctor tell when something waits, and the doctor why', async () => {
  await it.stored('waits for nothing')
  expect([await oldest(), await levelOfFinding()]).toEqual([0, 'ok'])
  expect(await levelOfFinding('is it mounted?')).toBe('problem')
  await upload(it.host, { bytes: textBytes('waits') })
  it.host.clock.advance(HOUR)
  expect(await oldest()).toBeGreaterThanOrEqual(3600)
  expect(await levelOfFinding()).toBe('problem')
  await it.keep()
  expect([await oldest(), await levelOfFinding()]).toEqual([0, 'ok'])
})

test('a store that is not mounted is not filled from the mirror, and nothing in it is marked', async () => {
  const file = await it.stored('the store is away')
  const store = await storeOf(it.host)
  const mark = (await store.readMark()) ?? ''
  await it.host.cutBlob(file.key, null)
  await store.writeMark('of another one')
  const keys = await it.host.storedBlobs()
  expect(await it.downloaded(file)).toMatchObject({ status: 503, retryAfter: '30' })
  expect((await it.rowOf(file.slug)).isMarked).toBe(false)
  expect(log.lines.some(({ fields }) => fields.err instanceof StoreFailure)).toBe(true)
  await expect(it.keep()).rejects.toThrow(WrongStore)
  expect(await it.host.storedBlobs()).toEqual(keys)
  await store.writeMark(mark)
  it.host.clock.advance(MINUTE)
  expect((await it.downloaded(file)).retryAfter).toBe('60')
  await it.keep()
  expect(await it.downloaded(file)).toEqual(whole('the store is away'))
})

async function copierTo(mirror: Mirror): Promise<MirrorCopier> {
  return new MirrorCopier({
    db: it.host.database,
    blobs: await storeOf(it.host),
    mirror,
    clock: it.host.clock,
    random: systemRandom,
    order: 'newest first',
    minFree: 1000,
    async throttle() {},
    signal: new AbortController().signal,
    onDamage: async () => {},
    onFailure() {},
  })
}

function openedMirror(): Promise<Mirror> {
  const { database: db, clock } = it.host
  return openMirror({ db, clock, random: systemRandom, place: it.place, onFault() {} })
}

test('a disk of the mirror that is full gets nothing more, and nothing is left of it', async () => {
  await upload(it.host, { bytes: textBytes('no room for this') })
  const mirror = await openedMirror()
  const store = overridden(mirror.store, { freeSpace: async () => 1000 })
  const before = await it.copies()
  const copier = await copierTo({ ...mirror, store })
  await expect(copier.copySome()).rejects.toThrow(MirrorUnusable)
  expect(await it.copies()).toEqual(before)
  await it.keep()
})

test('a mirror that is taken over while contents are copied to it is not noted to have them', async () => {
  const file = await upload(it.host, { bytes: textBytes('copied in between') })
  const former = await openedMirror()
  const takenOver = await it.keep({ keeps: null })
  const copier = await copierTo({
    ...former,
    async assertOwn() {
      it.host.clock.advance(MINUTE)
      await it.keep({ adopts: true, keeps: null })
    },
  })
  await expect(copier.copySome()).rejects.toThrow('is not the mirror')
  expect(takenOver.lacking.count).toBe(1)
  expect((await it.rowOf(file.slug)).copy).toBeNull()
  await it.keep()
  expect(await it.textOf(copyOf(await it.rowOf(file.slug)))).toBe('copied in between')
})

test('a mirror of others is neither written nor cleared until it is adopted, with what it has', async () => {
  const file = await it.stored('mine')
  const store = await it.store()
  const mark = (await store.readMark()) ?? ''
  const theirs = { pair: 'of somebody else', series: '0123456789ab', number: 99 }
  await writeMirrorMark(store, theirs, 'a key of somebody else')
  const before = await it.copies()
  await upload(it.host, { bytes: textBytes('not theirs') })
  const queue = { key: copyOf(file), due_at: 1 }
  await it.host.database.insertInto('mirror_garbage').values(queue).execute()
  await expect(it.keep()).rejects.toThrow('is not the mirror of this installation')
  expect(await it.copies()).toEqual(before)
  await it.host.database.deleteFrom('mirror_garbage').where('key', '=', queue.key).execute()
  const rows = await it.host.database.selectFrom('blobs').select('mirrored_key').execute()
  const kept = rows.filter(({ mirrored_key }) => mirrored_key !== null).length
  const { adopted } = await it.keep({ adopts: true })
  expect(adopted).toEqual({ kept, missing: 0, unknown: before.length - kept, authenticated: false })
  expect((await it.rowOf(file.slug)).copy).toBe(file.copy)
  expect(await it.copies()).toContain(copyOf(file))
  // The one that it was before may lack copies that were made since.
  const present = (await store.readMark()) ?? ''
  for (const copy of COPIES) await store.writeMark(mark, copy)
  await expect(it.keep()).rejects.toThrow('is not the mirror of this installation')
  for (const copy of COPIES) await store.writeMark(present, copy)
})

test('a place with other things in it is refused, also to be adopted', async () => {
  const full = temporaryFolder()
  writeFileSync(join(full.path, 'letter.txt'), 'dear')
  const mirror = { place: { kind: 'folder', path: full.path }, rate: 1, scrubDays: 0 } as const
  const config = { ...it.host.config, mirror }
  for (const adopts of [false, true]) {
    await expect(it.keep({ config, adopts })).rejects.toThrow(adopts ? 'other things' : 'is it mounted?')
  }
  expect(readdirSync(full.path)).toEqual(['letter.txt'])
  const letter = {
    place: { kind: 'folder', path: join(full.path, 'letter.txt') },
    rate: 1,
    scrubDays: 0,
  } as const
  await expect(it.keep({ config: { ...config, mirror: letter }, adopts: true })).rejects.toThrow('ENOTDIR')
  full[Symbol.dispose]()
})

test('a service that does not answer is named with the settings of the mirror', async () => {
  const s3 = { region: 'a', accessKeyId: 'a', secretAccessKey: 'b', pathStyle: true }
  const place = { kind: 's3', s3: { ...s3, endpoint: 'http://127.0.0.1:1', bucket: 'second' } } as const
  const unanswered = it.keep({ config: { ...it.host.config, mirror: { place, rate: 1, scrubDays: 0 } } })
  await expect(unanswered).rejects.toThrow('cannot be reached: HOLDFAST_MIRROR: the S3 store')
}, 120_000)

test('a folder that is not mounted stays empty until it is back, or is adopted', async () => {
  const { path } = it.place.kind === 'folder' ? it.place : { path: '' }
  renameSync(path, `${path} elsewhere`)
  mkdirSync(path)
  const file = await upload(it.host, { bytes: textBytes('meanwhile') })
  await expect(it.keep()).rejects.toThrow('is it mounted?')
  expect(readdirSync(path)).toEqual([])
  rmdirSync(path)
  renameSync(`${path} elsewhere`, path)
  await it.keep()
  expect((await it.rowOf(file.slug)).copy).not.toBeNull()
  renameSync(path, `${path} lost`)
  const { adopted, lacking, mirrored } = await it.keep({ adopts: true })
  expect(adopted).toEqual({ kept: 0, missing: mirrored.count, unknown: 0, authenticated: null })
  expect(lacking.count).toBe(0)
  expect(await it.copies()).toHaveLength(mirrored.count)
  expect(existsSync(join(path, 'mark'))).toBe(true)
})

test.each(['mark', 'mark-copy'])(
  'one wrong byte in the %s of the mirror, or its loss, costs nothing, and it is made anew',
  async (copy) => {
    const { path } = it.place.kind === 'folder' ? it.place : { path: '' }
    const marks = COPIES.map((name) => join(path, name))
    for (let at = 0; ; at++) {
      const whole = readFileSync(join(path, 'mark'))
      const isLast = at >= whole.length
      if (isLast) rmSync(join(path, copy))
      else if (at % 7 !== 0) continue
      else
        writeFileSync(
          join(path, copy),
          whole.map((byte, place) => (place === at ? byte ^ 1 : byte)),
        )
      const told = keptLog()
      await it.keep({ log: told })
      expect(told.lines.map(({ message }) => message)).toEqual([
        expect.stringContaining(`of the two copies of the mirror's mark, "${copy}"`),
      ])
      for (const mark of marks) expect(readFileSync(mark, 'utf8')).toContain('holdfast-mirror 1 ')
      expect(readFileSync(marks[0] ?? '')).toEqual(readFileSync(marks[1] ?? ''))
      if (isLast) break
    }
    const whole = readFileSync(join(path, 'mark'))
    for (const mark of marks)
      writeFileSync(
        mark,
        whole.map((byte, place) => (place === 30 ? byte ^ 1 : byte)),
      )
    await expect(it.keep()).rejects.toThrow('--adopt')
    await it.keep({ adopts: true })
    expect(readFileSync(marks[1] ?? '')).toEqual(readFileSync(marks[0] ?? ''))
  },
)

test('a folder that never answers delays no upload, no download and no stop', async () => {
  // Whoever reads it waits for a writer that says nothing, as for a disk that does not answer.
  const silent = join(path, 'mark')
  rmSync(silent)
  Bun.spawnSync(['mkfifo', silent])
  const before = await upload(it.host, { bytes: textBytes('to be copied') })
  const jobs = it.host.runJobs()
  const writer = await waitedFor(silent)
  const file = await upload(it.host, { bytes: textBytes('without a mirror') })
  expect(await it.downloaded(file)).toEqual(whole('without a mirror'))
  expect((await visit(it.host, '/ready')).status).toBe(200)
  expect((await it.rowOf(before.slug)).copy).toBeNull()
  await it.host.restart()
  await jobs
  closeSync(writer)
}, 120_000)

/** The end of a pipe to write to, once somebody wants to read from it. */
async function waitedFor(path: string): Promise<number> {
  let writer: number | null = null
  await eventually('the mirror is read', () => {
    try {
      writer = openSync(path, constants.O_WRONLY | constants.O_NONBLOCK)
    } catch {}
    return writer !== null
  })
  if (writer === null) throw new Error('nobody reads it')
  return writer
}
