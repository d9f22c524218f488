/** What a check finds damaged is not sent any more, until it is sound again. */
// Only in test:all: check.test.ts and damages.test.ts mark and repair.
// Only on a folder: check.test.ts, damages.test.ts and sums.test.ts mark and repair on the cluster.
import { afterAll, beforeEach, describe, expect, test } from 'bun:test'
import { type CheckWork, checkInstallation } from '../../../../src/contents/check.ts'
import { DamageMarker, type MarkLimit } from '../../../../src/contents/damage.ts'
import { countDamaged } from '../../../../src/core/damage.rows.ts'
import { WrongStore } from '../../../../src/core/store/pairing.ts'
import { DAY, systemClock } from '../../../../src/domain/clock.ts'
import { makeBlobKey, systemRandom } from '../../../../src/domain/random.ts'
import { MAIN, onlyThese } from '../../../support/cli/command.ts'
import { GENEROUS, signedAddress, textBytes, upload, visit } from '../../../support/clients/public.ts'
import { startProgram, watchProgram } from '../../../support/processes/program.ts'
import { onCluster, startHoldfast, type TestHoldfast } from '../../../support/servers/holdfast.ts'
import { overridden } from '../../../support/storage/overridden.ts'
import { contentOf, flipByte, storeOf } from '../../../support/storage/stored-contents.ts'

const hosts: TestHoldfast[] = []
let host: TestHoldfast
beforeEach(async () => {
  host = await startHoldfast(GENEROUS)
  hosts.push(host)
})
afterAll(async () => {
  for (const each of hosts) await each.stop()
})

const announced: string[] = []
const look: CheckWork = {
  marks: 'few',
  repairs: false,
  removesOrphans: false,
  announce: (line) => announced.push(line),
}

function check(work: Partial<CheckWork> = {}, { share = 1, clock = systemClock } = {}) {
  return checkInstallation({
    config: host.config,
    clock,
    random: systemRandom,
    readData: { kind: 'share', share },
    tell() {},
    work: { ...look, ...work },
  })
}

async function stored(name: string) {
  const file = await upload(host, { name, bytes: textBytes(name) })
  return { ...file, address: await signedAddress(host, file, 'download') }
}

const statusOf = async ({ address }: { address: string }) => (await visit(host, address)).status

describe('a mark', () => {
  test('keeps changed bytes from being sent, and goes when they are sound again', async () => {
    const file = await stored('a file')
    const twin = await stored('a file')
    const { key } = await contentOf(host, file.slug)
    await flipByte(host, key)
    expect(await check({ marks: 'none' })).toMatchObject({ marked: 0, damaged: [{}, {}] })
    expect(await statusOf(file)).toBe(200)
    expect(await check()).toMatchObject({ marked: 1, cleared: 0 })
    expect([await statusOf(file), await statusOf(twin)]).toEqual([500, 500])
    // What is marked is read again at every check, whatever share of the others is.
    expect(await check({}, { share: 0 })).toMatchObject({ marked: 0, damaged: [{}, {}] })
    await flipByte(host, key)
    expect(await check({ marks: 'none' }, { share: 0 })).toMatchObject({ cleared: 0, damaged: [] })
    expect(await statusOf(file)).toBe(500)
    expect(await check({}, { share: 0 })).toMatchObject({ cleared: 1, damaged: [] })
    expect(await statusOf(file)).toBe(200)
  })

  test('goes when the same content is uploaded again, for all files that have it', async () => {
    const [lost, cut, changed] = [await stored('lost'), await stored('cut it'), await stored('changed')]
    await host.cutBlob((await contentOf(host, lost.slug)).key, null)
    await host.cutBlob((await contentOf(host, cut.slug)).key, 2)
    await flipByte(host, (await contentOf(host, changed.slug)).key)
    expect(await check()).toMatchObject({ marked: 3 })
    for (const file of [lost, cut, changed]) expect(await statusOf(file)).toBe(500)
    for (const name of ['lost', 'cut it', 'changed']) {
      await upload(host, { name: 'again', bytes: textBytes(name) })
    }
    for (const file of [lost, cut, changed]) {
      const response = await visit(host, file.address)
      expect(await response.text()).toBe(file === lost ? 'lost' : file === cut ? 'cut it' : 'changed')
    }
    expect(await countDamaged(host.database)).toBe(0)
    expect(await check()).toMatchObject({ marked: 0, cleared: 0, damaged: [] })
  })

  test('is set on more than one in a hundred contents only when somebody says so', async () => {
    const files = []
    for (let count = 0; count < 12; count++) files.push(await stored(`file ${count}`))
    for (const { slug } of files) await host.cutBlob((await contentOf(host, slug)).key, null)
    const refused = await check()
    expect(refused).toMatchObject({ marked: 0, refused: 12 })
    expect(refused.damaged).toHaveLength(12)
    expect(await countDamaged(host.database)).toBe(0)
    expect(await check({ marks: 'many' })).toMatchObject({ marked: 12, refused: 0 })
    expect(await check()).toMatchObject({ marked: 0, refused: 0 })
    expect(await countDamaged(host.database)).toBe(12)
  })

  test('is not set while the mark of the store cannot be read, or is another one', async () => {
    const file = await stored('a file')
    const copy = { ...(await contentOf(host, file.slug)), damage: null }
    const db = host.database
    const blobs = await storeOf(host)
    for (const limit of ['few', 'many'] satisfies MarkLimit[]) {
      for (const mark of [null, 'another']) {
        const other = overridden(blobs, { readMark: async () => mark })
        const marking = new DamageMarker({ db, blobs: other, clock: systemClock }, limit, 1000)
        const work = async () => {
          await marking.found(copy, 'missing')
          await marking.finish()
        }
        await expect(work()).rejects.toThrow(WrongStore)
      }
    }
    expect(await countDamaged(db)).toBe(0)
  })
})

describe('a repair', () => {
  test('counts again what does not add up, and says so first', async () => {
    const { apiKey: key, username, id } = await host.addAccount()
    const { slug } = await upload(host, { key, name: 'a', bytes: textBytes('abc') })
    const content = await contentOf(host, slug)
    await host.database
      .updateTable('accounts')
      .set({ storage_used: 7, files_count: 9 })
      .where('username', '=', username)
      .execute()
    await host.database.updateTable('blobs').set({ refs: 5 }).where('id', '=', content.id).execute()
    announced.length = 0
    const repaired = await check({ repairs: true })
    expect(repaired.sums).toHaveLength(3)
    expect(repaired.repaired).toEqual(repaired.sums)
    expect(announced).toEqual(repaired.sums.map((line) => `${line}: it is counted again`))
    expect(await check()).toMatchObject({ sums: [], damaged: [] })
    expect(id).toBeDefined()
  })

  test('removes what belongs to no file once it is older than a day', async () => {
    const file = await stored('a file')
    const blobs = await storeOf(host)
    const stray = makeBlobKey(systemRandom)
    const writer = await blobs.create(stray)
    await writer.write(textBytes('stray'))
    await writer.complete()
    expect(await check({ removesOrphans: true })).toMatchObject({ orphans: [stray], removedOrphans: [] })
    const later = { ...systemClock, now: () => systemClock.now() + 2 * DAY }
    expect(await check({}, { clock: later })).toMatchObject({ removedOrphans: [] })

    const mark = (await blobs.readMark()) ?? ''
    await blobs.writeMark(`${mark.split(' ')[0]} 99`)
    await expect(check({ removesOrphans: true }, { clock: later })).rejects.toThrow('nothing was removed')
    expect(await blobs.size(stray)).toBe(5)
    await blobs.writeMark(mark)
    expect(await check({ removesOrphans: true }, { clock: later })).toMatchObject({ removedOrphans: [stray] })
    expect(await blobs.size(stray)).toBeNull()
    expect(await statusOf(file)).toBe(200)
  }, 120_000)
})

describe.skipIf(onCluster)('a repair that is killed', () => {
  test('has put each sum right or left it as it was, and a second one puts right the rest', async () => {
    const accounts = 300
    for (let count = 0; count < accounts; count++) await host.addAccount(`user${count}`)
    await host.database.updateTable('accounts').set({ storage_used: 7, files_count: 9 }).execute()
    const program = [process.execPath, '--no-env-file', MAIN, 'check', '--repair', '--json']
    const env = onlyThese({ HOLDFAST_DATA_DIR: host.dataDir })
    const first = startProgram(program, { cwd: host.dataDir, env })
    await watchProgram(first, ({ errors }) => {
      if (errors.split('\n').length > 20) first.kill('SIGKILL')
    })
    const sums = await host.database.selectFrom('accounts').select(['storage_used', 'files_count']).execute()
    const put = sums.filter((row) => row.storage_used === 0 && row.files_count === 0)
    const left = sums.filter((row) => row.storage_used === 7 && row.files_count === 9)
    expect(put.length).toBeGreaterThan(0)
    expect(put.length + left.length).toBe(sums.length)
    const second = JSON.parse((await startProgram(program, { cwd: host.dataDir, env }).ended).output)
    expect(second.repaired).toEqual(second.sums)
    expect(await check()).toMatchObject({ sums: [] })
  }, 120_000)
})
