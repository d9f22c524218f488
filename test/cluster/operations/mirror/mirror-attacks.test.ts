/** What somebody who can write to the mirror's place can do, and cannot, and what an accident there does. */
// Only in test:all: each refusal looks again for a second; mirror-folder.test.ts has marks.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as z from 'zod'
import { COPIES, withSum } from '../../../../src/contents/mark-copies.ts'
import { isLookDue, openMirror, writeMirrorMark } from '../../../../src/contents/mirror-place.ts'
import { setMeta } from '../../../../src/core/meta.rows.ts'
import { inTransaction } from '../../../../src/database/transactions.ts'
import { DAY, HOUR, MINUTE } from '../../../../src/domain/clock.ts'
import { systemRandom } from '../../../../src/domain/random.ts'
import { checkMirror } from '../../../../src/operations/doctor/mirror.ts'
import { readMetrics } from '../../../support/clients/metrics.ts'
import { deleteFile, textBytes, upload } from '../../../support/clients/public.ts'
import {
  copyOf,
  type Mirrored,
  newPlace,
  startMirrored,
  whole,
} from '../../../support/operations/mirrored.ts'
import { temporaryFolder } from '../../../support/processes/child.ts'
import { onCluster } from '../../../support/servers/holdfast.ts'

const TOKEN = 'a-token-of-some-length'
const NOT_OURS = 'is not the mirror of this installation'
const OLDER = 'has an older state of the mirror than this installation has seen'

let it: Mirrored
let path: string
let key: string
const snapshots = temporaryFolder()
let made = 0

async function startHere(): Promise<{ it: Mirrored; path: string }> {
  const place = await newPlace(onCluster)
  if (place.kind !== 'folder') throw new Error('the mirror of these tests is a folder')
  return { it: await startMirrored({ metrics: { token: TOKEN } }, place), path: place.path }
}

beforeAll(async () => {
  const here = await startHere()
  it = here.it
  path = here.path
  key = (await it.host.addAccount()).apiKey
})
afterAll(async () => {
  await it.stop()
  snapshots[Symbol.dispose]()
})

/** All that lies in the place now. */
function snapshot(): string {
  const to = join(snapshots.path, String(made++))
  cpSync(path, to, { recursive: true })
  return to
}

function putBack(from: string, to = path): void {
  rmSync(to, { recursive: true })
  cpSync(from, to, { recursive: true })
}

const markText = () => readFileSync(join(path, 'mark'), 'utf8')
const writeMarks = (text: string) => {
  for (const copy of COPIES) writeFileSync(join(path, copy), text)
}
/** What anybody reads who can read the place. */
const openMark = () =>
  z
    .object({ pair: z.string(), series: z.string(), number: z.number() })
    .parse(JSON.parse(z.object({ body: z.string() }).parse(JSON.parse(markText().split('\n')[1] ?? '')).body))

/** What is done to the mirror is refused, and nothing in it is changed by that. */
async function expectRefused(message: string): Promise<void> {
  const before = await it.copies()
  await upload(it.host, { key, bytes: textBytes(`waits until the mirror is back ${made++}`) })
  await expect(it.keep()).rejects.toThrow(message)
  await expect(it.keep({ keeps: null })).rejects.toThrow(message)
  expect(await it.copies()).toEqual(before)
}

describe('whoever can write to the place of the mirror', () => {
  test('cannot put it back to what it was: the number tells, and what it lacks is made anew once a person says so', async () => {
    await it.stored('there before', key)
    const old = snapshot()
    const file = await it.stored('there since', key)
    const present = snapshot()
    putBack(old)
    await expectRefused(OLDER)
    putBack(present)
    await it.keep()
    putBack(old)
    await expectRefused(OLDER)
    const { adopted, lacking } = await it.keep({ adopts: true })
    expect(adopted).toMatchObject({ unknown: 0, authenticated: true })
    expect(adopted?.missing).toBeGreaterThan(0)
    expect(lacking.count).toBe(0)
    expect(await it.textOf(copyOf(await it.rowOf(file.slug)))).toBe('there since')
    // It is another series from now on.
    putBack(present)
    await expectRefused(NOT_OURS)
    await it.keep({ adopts: true })
  }, 60_000)

  test('cannot bring removed copies back unnoticed by putting an older state there', async () => {
    const file = await it.stored('to be removed', key)
    const copy = copyOf(file)
    const old = snapshot()
    await deleteFile(it.host, key, file.slug)
    await it.host.runJobs()
    for (const time of [MINUTE, DAY + MINUTE]) {
      it.host.clock.advance(time)
      await it.keep()
    }
    expect(await it.copies()).not.toContain(copy)
    putBack(old)
    await expectRefused(OLDER)
    const { adopted } = await it.keep({ adopts: true })
    expect(adopted?.unknown).toBeGreaterThan(0)
    it.host.clock.advance(DAY + MINUTE)
    await it.keep()
    expect(await it.copies()).not.toContain(copy)
  }, 60_000)

  test('cannot write a mark: not with another key, not without one, and not with parts of one that was there', async () => {
    await it.stored('behind an authentic mark', key)
    const store = await it.store()
    const present = markText()
    const mark = openMark()
    const next = { ...mark, number: mark.number + 1000 }
    await writeMirrorMark(store, next, 'f'.repeat(64))
    await expectRefused(NOT_OURS)
    const body = JSON.stringify(next)
    const mac = z.object({ mac: z.string() }).parse(JSON.parse(present.split('\n')[1] ?? '')).mac
    for (const envelope of [
      { body },
      { body, mac: null },
      { body, mac: '' },
      { body, mac },
      { body: JSON.stringify({ ...mark, series: '000000000000' }), mac },
    ]) {
      writeMarks(withSum('mirror', 1, JSON.stringify(envelope)))
      await expectRefused(NOT_OURS)
    }
    for (const text of [`mirror of ${mark.pair} since 1`, mark.pair, '', 'x'.repeat(1_000_000)]) {
      writeMarks(text)
      await expectRefused(NOT_OURS)
    }
    // One copy of somebody else beside an authentic one counts for nothing, and is made anew.
    await writeMirrorMark(store, next, 'f'.repeat(64))
    writeFileSync(join(path, 'mark-copy'), present)
    await it.keep()
    expect(openMark().number).toBeLessThan(mark.number + 1000)
    await it.keep()
  }, 60_000)

  test('cannot put the mirror of another installation there, nor its mark alone', async () => {
    await it.stored('mine', key)
    const mine = snapshot()
    const other = await startHere()
    try {
      const theirs = await other.it.stored('theirs')
      putBack(other.path)
      await expectRefused(NOT_OURS)
      expect(await it.copies()).toContain(copyOf(theirs))
      putBack(mine)
      for (const copy of COPIES) cpSync(join(other.path, copy), join(path, copy))
      await expectRefused(NOT_OURS)
      const { adopted } = await it.keep({ adopts: true })
      expect(adopted).toMatchObject({ authenticated: false })
    } finally {
      await other.it.stop()
    }
  }, 60_000)

  test('cannot exchange contents: a copy in the place of another is no copy, and never comes back', async () => {
    const [one, other] = [await it.stored('the one text', key), await it.stored('other text, as long', key)]
    const at = (file: typeof one) => join(path, copyOf(file).slice(0, 2), copyOf(file))
    const [ones, others] = [readFileSync(at(one)), readFileSync(at(other))]
    writeFileSync(at(one), others)
    writeFileSync(at(other), ones)
    await it.host.cutBlob(one.key, null)
    expect(await it.downloaded(one)).toMatchObject({ status: 500 })
    await it.keep()
    expect(await it.downloaded(one)).toMatchObject({ status: 500 })
    const { read } = await it.keep({ reads: 1 })
    expect(read?.wrongCopies).toBe(1)
    expect(await it.downloaded(other)).toEqual(whole('other text, as long'))
    expect(await it.textOf(copyOf(await it.rowOf(other.slug)))).toBe('other text, as long')
    await deleteFile(it.host, key, one.slug)
  }, 60_000)
})

describe('the number of the mark', () => {
  test('grows with each run that copies, also when several run at once, and by a kill that came between mark and row', async () => {
    const before = openMark().number
    const { database: db, clock } = it.host
    const opened = () => openMirror({ db, clock, random: systemRandom, place: it.place, onFault() {} })
    const runs = [await opened(), await opened(), await opened(), await opened()]
    await Promise.all(
      runs.map(async (mirror) => {
        for (let round = 0; round < 10; round++) {
          const number = await mirror.advance()
          await inTransaction(db, (trx) => mirror.remember(trx, number))
          await mirror.assertOwn()
        }
      }),
    )
    await it.keep()
    expect(openMark().number).toBeGreaterThanOrEqual(before + 40)
    expect(readFileSync(join(path, 'mark-copy'), 'utf8')).toBe(markText())
    // Of two copies the higher number counts.
    const older = markText()
    await it.stored('after them', key)
    for (const copy of COPIES) {
      writeFileSync(join(path, copy), older)
      await it.keep()
    }
    const killed = await (await opened()).advance()
    await it.stored('goes on above it', key)
    expect(openMark().number).toBeGreaterThan(killed)
  }, 60_000)

  test('is shown by the command, the metrics and the doctor', async () => {
    await it.stored('shown', key)
    const { series, number } = openMark()
    const { state } = await it.keep({ keeps: null })
    expect(state).toMatchObject({ series, number })
    it.host.clock.advance(MINUTE)
    const metrics = await readMetrics(it.host, TOKEN)
    expect(metrics.sum('holdfast_mirror_mark_number')).toBe(number)
    expect(metrics.sum('holdfast_mirror_mark_number', { series })).toBe(number)
    const { config, clock, database: db } = it.host
    const found = await checkMirror({ db, config, clock }, { list: async () => [] })
    expect(JSON.stringify(found)).toContain(`${series}/${number}`)
  }, 60_000)

  test('is looked at every hour though there is nothing to copy, so that an old state is found', async () => {
    const { clock, database: db } = it.host
    await it.keep()
    expect(await isLookDue(db, clock.now())).toBe(false)
    const old = snapshot()
    await it.stored('the last one for a while', key)
    putBack(old)
    clock.advance(HOUR)
    expect(await isLookDue(db, clock.now())).toBe(true)
    await it.host.runJobs()
    const failure = await it.host.database
      .selectFrom('jobs')
      .select('failure')
      .where('name', '=', 'keep the mirror')
      .executeTakeFirst()
    expect(failure?.failure).toContain(OLDER)
    await it.keep({ adopts: true })
  }, 60_000)
})

test('a mirror of the installation that this one was restored from is adopted as authentic', async () => {
  await it.stored('before the restore', key)
  const held = await it.host.database
    .selectFrom('meta')
    .select('value')
    .where('key', '=', 'mirror_state')
    .executeTakeFirstOrThrow()
  const state = z.looseObject({ series: z.string() }).parse(JSON.parse(held.value))
  const changed = JSON.stringify({ ...state, series: '000000000000' })
  await inTransaction(it.host.database, (trx) => setMeta(trx, 'mirror_state', changed))
  await expectRefused(NOT_OURS)
  const { adopted } = await it.keep({ adopts: true })
  expect(adopted).toMatchObject({ missing: 0, authenticated: true })
}, 60_000)
