/** `holdfast check` beside running servers. */
import { afterAll, beforeEach, describe, expect, test } from 'bun:test'
import { type SqlBool, sql } from 'kysely'
import { checkInstallation, type ReadData } from '../../../../src/contents/check.ts'
import { systemClock } from '../../../../src/domain/clock.ts'
import type { BlobKey } from '../../../../src/domain/ids.ts'
import { makeBlobKey, systemRandom } from '../../../../src/domain/random.ts'
import { holdfast } from '../../../support/cli/command.ts'
import { holdfastHere as command } from '../../../support/cli/command-here.ts'
import { caller } from '../../../support/clients/caller.ts'
import { GENEROUS, textBytes, upload } from '../../../support/clients/public.ts'
import { temporaryFolder } from '../../../support/processes/child.ts'
import { onCluster, startHoldfast, type TestHoldfast } from '../../../support/servers/holdfast.ts'
import { contentOf, flipByte, storeOf } from '../../../support/storage/stored-contents.ts'

const ALL: ReadData = { kind: 'share', share: 1 }
const NOTHING: ReadData = { kind: 'nothing' }

const hosts: TestHoldfast[] = []
let host: TestHoldfast
beforeEach(async () => {
  host = await startHoldfast(GENEROUS)
  hosts.push(host)
})
afterAll(async () => {
  for (const each of hosts) await each.stop()
})

const parts = () => ({ config: host.config, clock: systemClock, random: systemRandom })
const checked = (readData: ReadData = ALL) => checkInstallation({ ...parts(), readData, tell() {} })

/** In another process where SQLite is used: a connection that waits for a lock holds up its thread, and the server's here. */
async function besides(): Promise<unknown> {
  if (onCluster) return checked()
  const words = ['check', '--read-data', '--rate', '1TB', '--json']
  const { output } = await holdfast(host.dataDir, words, { HOLDFAST_DATA_DIR: host.dataDir })
  return JSON.parse(output)
}

const keyOf = async (slug: string) => (await contentOf(host, slug)).key
const flip = (key: BlobKey) => flipByte(host, key)

describe('a check', () => {
  test('finds nothing wrong where nothing is, whatever was done', async () => {
    const { apiKey: key } = await host.addAccount()
    const api = caller(host.url, key)
    const folder = await api.createFolder('folder')
    const sizes = [0, 1, 1000, 3_000_000]
    for (const size of sizes) await api.upload(new Uint8Array(size).fill(size % 251), `${size}.bin`, folder)
    const { slug } = await api.upload(textBytes('gone'), 'gone.txt')
    await api.deleteFiles([slug])
    // Or the job that clears deleted files would do so before the check or after it.
    await host.runJobs()
    const copy = await upload(host, { name: 'a copy.bin', bytes: new Uint8Array(1000).fill(1000 % 251) })
    expect(copy.slug).toBeTruthy()
    const progress: number[] = []
    const result = await checkInstallation({
      ...parts(),
      readData: ALL,
      tell: ({ contents }) => progress.push(contents),
    })
    expect(result).toMatchObject({ damaged: [], orphans: [], sums: [] })
    expect(result.checkedFiles).toBe(5)
    expect(result.checkedContents).toBe(4)
    expect(result.checkedBytes).toBe(3_001_001)
    expect(progress).toEqual([4])
  })

  test('names each file whose bytes are gone, cut or changed, with its owner', async () => {
    const { apiKey: key, username } = await host.addAccount()
    const by = async (name: string, given?: string) =>
      (await upload(host, { name, bytes: textBytes(name), ...(given === undefined ? {} : { key: given }) }))
        .slug
    const [lost, cut, changed] = [await by('lost', key), await by('cut', key), await by('changed', key)]
    const [twin, sound] = [await by('lost'), await by('sound', key)]
    await host.cutBlob(await keyOf(lost), null)
    await host.cutBlob(await keyOf(cut), 2)
    await flip(await keyOf(changed))
    const structure = await checked(NOTHING)
    const brief = (result: typeof structure) =>
      result.damaged
        .map(({ slug, owner, reason }) => ({ slug, owner, reason }))
        .sort((a, b) => (a.slug < b.slug ? -1 : 1))
    const bySlug = (rows: { slug: string; owner: string; reason: string }[]) =>
      rows.sort((a, b) => (a.slug < b.slug ? -1 : 1))
    const visible = [
      { slug: lost, owner: username, reason: 'missing' },
      { slug: twin, owner: '*guests*', reason: 'missing' },
      { slug: cut, owner: username, reason: 'size' },
    ]
    expect<unknown>(brief(structure)).toEqual(bySlug([...visible]))
    expect(structure.checkedBytes).toBe(0)
    const whole = await checked()
    expect<unknown>(brief(whole)).toEqual(
      bySlug([...visible, { slug: changed, owner: username, reason: 'hash' }]),
    )
    expect(whole.damaged.map(({ slug }) => String(slug))).not.toContain(sound)
    expect(whole.sums).toEqual([])
  })

  test('lists bytes that nothing refers to, and sums that are wrong', async () => {
    const { apiKey: key, username, id } = await host.addAccount()
    const { slug } = await upload(host, { key, name: 'a', bytes: textBytes('abc') })
    const stray = makeBlobKey(systemRandom)
    const writer = await (await storeOf(host)).create(stray)
    await writer.write(textBytes('stray'))
    await writer.complete()
    await host.database
      .updateTable('accounts')
      .set({ storage_used: 7, files_count: 9 })
      .where(sql<SqlBool>`id = ${id}`)
      .execute()
    const blob = await keyOf(slug)
    await host.database.updateTable('blobs').set({ refs: 5 }).where('key', '=', blob).execute()
    const result = await checked()
    expect(result.orphans).toEqual([stray])
    expect(result.damaged).toEqual([])
    expect(result.sums).toEqual([
      `content ${blob}: 5 references are counted, 1 files refer to it`,
      `${username}: 7 bytes are counted, its files have 3`,
      `${username}: 9 files are counted, there are 1`,
    ])
  })

  test('takes nothing for damage that is being uploaded or deleted', async () => {
    const { apiKey: key } = await host.addAccount()
    const api = caller(host.url, key)
    let isOver = false
    async function busy(who: number): Promise<void> {
      for (let round = 0; !isOver; round++) {
        const { slug } = await api.upload(textBytes(`${who} ${round % 3}`), `${round}.txt`)
        if (round % 2 === 0) await api.deleteFiles([slug])
        if (round % 10 === 0) await host.runJobs()
      }
    }
    const work = Promise.all([1, 2, 3].map(busy))
    try {
      for (let round = 0; round < 4; round++) {
        expect(await besides()).toMatchObject({ damaged: [], orphans: [], sums: [] })
      }
    } finally {
      isOver = true
      await work
    }
  })

  test('reads a share of the bytes, or about so many', async () => {
    for (let count = 0; count < 60; count++)
      await upload(host, { name: `${count}`, bytes: textBytes(`${count}`.padEnd(100)) })
    expect((await checked({ kind: 'share', share: 0 })).checkedBytes).toBe(0)
    const half = (await checked({ kind: 'share', share: 0.5 })).checkedBytes
    expect(half).toBeGreaterThan(500)
    expect(half).toBeLessThan(5500)
    expect((await checked({ kind: 'bytes', bytes: 1e9 })).checkedBytes).toBe(6000)
    expect((await checked({ kind: 'bytes', bytes: 1000 })).checkedBytes).toBeLessThan(4000)
  })
})

describe.skipIf(onCluster)('holdfast check', () => {
  test('exits with 0, and with 3 once something is damaged, in words and as JSON', async () => {
    const { slug } = await upload(host, { name: 'a file.txt', bytes: textBytes('content') })
    const settings = { HOLDFAST_DATA_DIR: host.dataDir }
    using folder = temporaryFolder()
    const sound = await command(folder.path, ['check', '--read-data'], settings)
    expect(sound).toMatchObject({ code: 0, errors: '' })
    expect(sound.output).toBe('Looked at 1 file with 1 content, and read 7 B.\nAll is well.\n')
    await flip(await keyOf(slug))
    expect((await command(folder.path, ['check'], settings)).code).toBe(0)
    const damaged = await command(folder.path, ['check', '--read-data', '100%', '--json'], settings)
    expect(damaged.code).toBe(3)
    const key = await keyOf(slug)
    expect(JSON.parse(damaged.output)).toEqual({
      checked_files: 1,
      checked_bytes: 7,
      damaged: [{ slug, name: 'a file.txt', owner: '*guests*', reason: 'hash', key }],
      orphans: [],
      sums: [],
      marked: 1,
      cleared: 0,
      repaired: [],
      removed_orphans: [],
    })
    const words = await command(folder.path, ['check', '--read-data', '1GB'], settings)
    expect(words.output).toContain('1 file is damaged:')
    expect(words.output).toContain(`/d/${slug}`)
    expect(words.output).toContain('its bytes have changed')
    const repair = await command(folder.path, ['check', '--read-data', '1GB', '--repair'], settings)
    expect(repair.output).toContain('There is no mirror, so --repair alone brings no content back')
  })

  test('exits with 2 when it is called in a wrong way, and with 1 where there is no data', async () => {
    using folder = temporaryFolder()
    for (const share of ['101%', 'x', '-1']) {
      expect((await command(folder.path, ['check', '--read-data', share])).code).toBe(2)
    }
    for (const words of [
      ['--dry-run', '--repair'],
      ['--dry-run', '--mark-many'],
      ['--rate', '0'],
    ]) {
      expect((await command(folder.path, ['check', ...words])).code).toBe(2)
    }
    const { code, errors } = await command(folder.path, ['check'])
    expect({ code, errors }).toMatchObject({
      code: 1,
      errors: expect.stringContaining('there is no Holdfast data'),
    })
  })
})
