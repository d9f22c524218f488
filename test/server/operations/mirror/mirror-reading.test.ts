/** Copies in the mirror that are read again, and a disk of the mirror that is full or cannot be written. */
// Only on a folder: is about the disk of the mirror; the order of ids and the rows are those of mirror.test.ts.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { MirrorUnusable, openMirror } from '../../../../src/contents/mirror-place.ts'
import {
  isReadingDue,
  presentRound,
  type ReadingRound,
  readRound,
} from '../../../../src/contents/mirror-reading.ts'
import { DAY, systemClock } from '../../../../src/domain/clock.ts'
import type { BlobKey } from '../../../../src/domain/ids.ts'
import { systemRandom } from '../../../../src/domain/random.ts'
import { readMetrics } from '../../../support/clients/metrics.ts'
import { randomBytes, upload } from '../../../support/clients/public.ts'
import { eventually } from '../../../support/eventually.ts'
import { keptLog } from '../../../support/kept-log.ts'
import { copyOf, type Mirrored, startMirrored, whole } from '../../../support/operations/mirrored.ts'
import { temporaryFolder } from '../../../support/processes/child.ts'
import { smallDisk, whyNoSmallDisk } from '../../../support/storage/small-disk.ts'

const TOKEN = 'a-token-of-some-length'
const noDisk = whyNoSmallDisk()
const disk = noDisk === null ? smallDisk(8) : null
const folder = disk ?? temporaryFolder()
const place = { kind: 'folder', path: join(folder.path, 'mirror') } as const
const log = keptLog()

let it: Mirrored
beforeAll(async () => {
  it = await startMirrored({ metrics: { token: TOKEN } }, place, log)
})
afterAll(async () => {
  await it.host.stop()
  folder[Symbol.dispose]()
})

async function read(changes: Partial<ReadingRound> = {}): Promise<void> {
  const { database: db, clock } = it.host
  await readRound({
    db,
    clock,
    log,
    mirror: await openMirror({ db, clock, random: systemRandom, place, onFault() {} }),
    async throttle() {},
    scrubDays: 30,
    diskLoad: { quiet: async () => true },
    signal: new AbortController().signal,
    mayGoOn: () => true,
    ...changes,
  })
}

/** Other bytes of the same size in the place of the copy. */
function alter(key: BlobKey): void {
  const path = join(place.path, key.slice(0, 2), key)
  writeFileSync(path, 'x'.repeat(statSync(path).size))
}

const isDue = () => isReadingDue(it.host.database, { scrubDays: 30 }, it.host.clock.now())

test('copies are read in rounds, which go on where they were, and damaged ones are made anew', async () => {
  const files = [await it.stored('one'), await it.stored('two'), await it.stored('three')]
  expect(await isDue()).toBe(false)
  it.host.clock.advance(28 * DAY)
  expect(await isDue()).toBe(true)
  let reads = 0
  await read({ mayGoOn: () => ++reads <= 2 })
  expect(await presentRound(it.host.database)).toMatchObject({ isOver: false, after: files[1]?.id, wrong: 0 })
  // Of those before it, the one is not looked at any more in this round.
  for (const at of [0, 2]) alter(copyOf(files[at] ?? { copy: null }))
  expect(await isDue()).toBe(true)
  await read()
  expect(await presentRound(it.host.database)).toMatchObject({ isOver: true, wrong: 1 })
  expect(await isDue()).toBe(false)
  await it.keep()
  const rows = await Promise.all(files.map(({ slug }) => it.rowOf(slug)))
  expect(rows.map(({ copy }, at) => copy === files[at]?.copy)).toEqual([true, true, false])
  expect(await it.textOf(copyOf(rows[2] ?? { copy: null }))).toBe('three')
  const metrics = await readMetrics(it.host, TOKEN)
  expect(metrics.sum('holdfast_mirror_damaged_copies')).toBe(1)

  // The job does the same in a process of its own, by the clock of the machine.
  const value = JSON.stringify({ began: 0, since: 0, after: null, isOver: true, wrong: 0 })
  await it.host.database.updateTable('meta').set({ value }).where('key', '=', 'mirror_reading').execute()
  await it.host.runJobs()
  expect(await presentRound(it.host.database)).toMatchObject({ isOver: true, wrong: 1 })
  expect(
    log.lines.some(({ fields }) => String(fields.said).includes('a copy in the mirror is damaged')),
  ).toBe(true)
  await it.keep()
  expect(await it.textOf(copyOf(await it.rowOf(files[0]?.slug ?? '')))).toBe('one')
  expect((await presentRound(it.host.database))?.since).toBeGreaterThan(systemClock.now() - DAY)
}, 120_000)

test.skipIf(disk === null)(
  'a full disk and one that cannot be written delay no upload, and heal what they have',
  async () => {
    if (disk === null) return
    const file = await it.stored('heals')
    const makeRoom = disk.fill()
    const writable = (how: 'ro' | 'rw') =>
      Bun.spawnSync(['mount', '-o', `remount,${how}`, disk.path]).exitCode
    for (const [state, reason] of [
      ['full', 'full'],
      ['read-only', 'read-only'],
    ] as const) {
      if (state === 'read-only') {
        makeRoom()
        // A removed copy may be open for a second.
        await eventually('the disk is read-only', () => writable('ro') === 0)
      }
      const late = await upload(it.host, { bytes: randomBytes(300_000) })
      await expect(it.keep()).rejects.toThrow(reason)
      await expect(it.keep()).rejects.toThrow(MirrorUnusable)
      expect((await it.rowOf(late.slug)).copy).toBeNull()
      await read()
      const { key } = await it.rowOf(file.slug)
      await it.host.cutBlob(key, null)
      expect((await it.downloaded(file)).status).toBe(500)
      // The damage is noted once a second look has confirmed it, which no answer waits for.
      await eventually('it is healed', async () => {
        await expect(it.keep()).rejects.toThrow(reason)
        return (await it.downloaded(file)).status === 200
      })
      expect(await it.downloaded(file)).toEqual(whole('heals'))
    }
    expect(writable('rw')).toBe(0)
    expect((await it.keep()).lacking.count).toBe(0)
  },
)
