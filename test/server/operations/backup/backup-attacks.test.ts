/** What somebody who can write to the backup's storage, a bad disk or a kill does to a backup, and what commands make of it. */
// Only in test:all: many starts of the program; catalog-copies.test.ts has the catalog.
// Only on a folder: is about what lies in the target.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import {
  cpSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import * as z from 'zod'
import { COPIES } from '../../../../src/contents/mark-copies.ts'
import { ownState } from '../../../../src/contents/own-backups.ts'
import { checkBackups } from '../../../../src/operations/doctor/store.ts'
import { caller } from '../../../support/clients/caller.ts'
import { GENEROUS, textBytes, upload } from '../../../support/clients/public.ts'
import { backupsOf, catalogOf, contentsOf, writeCatalog } from '../../../support/operations/backups.ts'
import {
  checked,
  environmentOf,
  made,
  restored,
  type Settings,
} from '../../../support/operations/commands.ts'
import { startHoldfast, type TestHoldfast } from '../../../support/servers/holdfast.ts'

const PASSPHRASE = 'correct horse battery staple'

let host: TestHoldfast
let other: TestHoldfast
const { folder, newPlace, run, done, backUp, restoredFrom } = backupsOf(() => host)
const passphrase = join(folder.path, 'passphrase')
const unlocked = { HOLDFAST_BACKUP_PASSPHRASE_FILE: passphrase }
beforeAll(async () => {
  writeFileSync(passphrase, PASSPHRASE)
  host = await startHoldfast(GENEROUS)
  other = await startHoldfast(GENEROUS)
})
afterAll(async () => {
  await host.stop()
  await other.stop()
  folder[Symbol.dispose]()
})

const sealedSettings = (of: TestHoldfast = host) => ({ ...environmentOf(of.config), ...unlocked })
const backUpSealed = (target: string, ...more: string[]) =>
  done(['backup', target, ...more], made, sealedSettings())
const restoring = (target: string, settings: Settings = {}, ...more: string[]) =>
  run(['restore', target, ...more], { HOLDFAST_DATA_DIR: newPlace(), ...settings })

/** A copy of the whole place, to put back later. */
function copyOf(target: string): string {
  const copy = newPlace()
  cpSync(target, copy, { recursive: true })
  return copy
}
function putBack(copy: string, target: string): void {
  rmSync(target, { recursive: true })
  cpSync(copy, target, { recursive: true })
}
function flip(path: string, at = 0.5): void {
  const bytes = readFileSync(path)
  const place = Math.min(bytes.length - 1, Math.floor(bytes.length * at))
  bytes[place] = (bytes[place] ?? 0) ^ 1
  writeFileSync(path, bytes)
}
const pathOf = (target: string, key: string) => join(target, key.slice(0, 2), key)

/** An encrypted backup with two contents of one size. */
async function sealedBackup() {
  const target = newPlace()
  const slugs = await Promise.all(
    ['one', 'two'].map(async (name) => {
      const bytes = textBytes(`${name} of two contents of one size`)
      return (await upload(host, { name: `${name}.txt`, bytes })).slug
    }),
  )
  const point = await backUpSealed(target)
  const { catalog } = await catalogOf(target, PASSPHRASE)
  return { target, slugs, point, rows: catalog.points.at(-1)?.key ?? '' }
}

describe('whoever can write to the place of an encrypted backup, and upload a file,', () => {
  test('cannot let one content stand for another', async () => {
    const { target, rows } = await sealedBackup()
    const sealed = contentsOf(target).filter(({ path }) => path !== pathOf(target, rows))
    const sizes = new Map<number, string[]>()
    for (const { path, bytes } of sealed) sizes.set(bytes.length, [...(sizes.get(bytes.length) ?? []), path])
    const [a = '', b = ''] = [...sizes.values()].find((paths) => paths.length > 1) ?? []
    const [first, second] = [readFileSync(a), readFileSync(b)]
    writeFileSync(a, second)
    writeFileSync(b, first)
    const back = await restoring(target, unlocked, '--json')
    expect(back.code).toBe(3)
    expect(back.json(restored).damaged.length).toBeGreaterThanOrEqual(2)
  }, 120_000)

  test('cannot let an uploaded file stand for the rows', async () => {
    const target = newPlace()
    await backUpSealed(target)
    const before = new Set(contentsOf(target).map(({ path }) => path))
    // As large as the rows may be: a database of the attacker, uploaded by a guest.
    const evil = readFileSync(join(other.config.dataDir, 'holdfast.sqlite'))
    await upload(host, { name: 'evil.bin', bytes: new Uint8Array(evil) })
    await backUpSealed(target)
    const { catalog } = await catalogOf(target, PASSPHRASE)
    const rows = pathOf(target, catalog.points.at(-1)?.key ?? '')
    const uploaded = contentsOf(target)
      .filter(({ path }) => !before.has(path) && path !== rows)
      .sort((a, b) => b.bytes.length - a.bytes.length)[0]
    writeFileSync(rows, uploaded?.bytes ?? '')
    const back = await restoring(target, unlocked)
    expect(back).toMatchObject({ code: 1, errors: expect.stringContaining('the rows of the point') })
    // Nor by a catalog that names the upload as the rows.
    const last = catalog.points.at(-1)
    if (last === undefined) throw new Error('there is no point')
    const forged = { ...last, key: last.key, size: evil.length }
    writeCatalog(target, { ...catalog, number: catalog.number + 1, points: [forged] })
    expect(await restoring(target, unlocked)).toMatchObject({
      code: 1,
      errors: expect.stringContaining('not encrypted'),
    })
  }, 120_000)

  test('cannot change the catalog, nor one copy of it', async () => {
    const { target } = await sealedBackup()
    for (const [name, changes] of [
      ['a body of its own', (text: string) => text.replace(/takenAt\\":\d/, 'takenAt\\":9')],
      ['no authentication', (text: string) => text.replace(/"mac":"[0-9a-f]+"/, '"mac":null')],
    ] as const) {
      const copy = copyOf(target)
      for (const each of COPIES) {
        const text = readFileSync(join(copy, each), 'utf8')
        const [, json = ''] = text.split(/\n([\s\S]*)/)
        const changed = changes(json)
        expect({ name, isChanged: changed !== json }).toEqual({ name, isChanged: true })
        const sum = new Bun.CryptoHasher('sha256').update(`2\n${changed}`).digest('hex')
        writeFileSync(join(copy, each), `holdfast-backup 2 ${sum}\n${changed}`)
        if (each !== 'mark') continue
        // The other copy still counts, and the run says so.
        const one = copyOf(copy)
        const back = await restoring(one, unlocked, '--json')
        expect({ name, code: back.code, errors: back.errors }).toEqual({
          name,
          code: 0,
          errors: expect.stringContaining('"mark" was changed by somebody without the passphrase'),
        })
      }
      expect(await restoring(copy, unlocked)).toMatchObject({
        code: 1,
        errors: expect.stringContaining('was changed by somebody without the passphrase'),
      })
    }
  }, 120_000)

  test('cannot put the place back to what it was, where the installation has seen more', async () => {
    const { target, point } = await sealedBackup()
    const old = copyOf(target)
    const newer = await backUpSealed(target)
    expect(newer.series).toBe(point.series)
    expect(newer.number).toBeGreaterThan(point.number)
    const present = copyOf(target)
    putBack(old, target)
    const refused = await run(['backup', target], sealedSettings())
    expect(refused.code).toBe(1)
    expect(refused.errors).toContain(`its catalog is ${point.series}/`)
    expect(refused.errors).toContain(`${newer.series}/${newer.number} was seen before`)
    expect(refused.errors).toContain('--new-series')
    const drill = await run(['drill', target, '--scratch', folder.path], sealedSettings())
    expect(drill).toMatchObject({ code: 1, errors: expect.stringContaining('at least') })
    // A restore elsewhere knows what its person has noted.
    const least = `${newer.series}/${newer.number}`
    expect(await restoring(target, unlocked, '--at-least', least)).toMatchObject({
      code: 1,
      errors: expect.stringContaining('older backup'),
    })
    putBack(present, target)
    expect(await restoring(target, unlocked, '--at-least', least)).toMatchObject({ code: 0 })
    expect(await restoring(target, unlocked, '--at-least', `000000000000/1`)).toMatchObject({ code: 1 })
    expect(await run(['restore', target, '--at-least', 'newest'])).toMatchObject({ code: 2 })
  }, 120_000)

  test('cannot put the backup of another installation there, though it has the same passphrase', async () => {
    const { target } = await sealedBackup()
    const theirs = newPlace()
    await done(['backup', theirs], made, sealedSettings(other))
    putBack(theirs, target)
    const refused = await run(['backup', target], sealedSettings())
    expect(refused).toMatchObject({ code: 1, errors: expect.stringContaining('has another backup than') })
    // As a person may want it, and then it goes on.
    const anew = await backUpSealed(target, '--new-series')
    const again = await backUpSealed(target)
    expect(again.series).toBe(anew.series)
    expect(again.number).toBeGreaterThan(anew.number)
  }, 120_000)

  test('cannot make a backup without a passphrase of it', async () => {
    const { target } = await sealedBackup()
    const plain = newPlace()
    await done(['backup', plain], made, environmentOf(other.config))
    putBack(plain, target)
    for (const words of [
      ['backup', target],
      ['restore', target],
    ]) {
      const settings =
        words[0] === 'backup' ? sealedSettings() : { ...unlocked, HOLDFAST_DATA_DIR: newPlace() }
      expect(await run(words, settings)).toMatchObject({
        code: 1,
        errors: expect.stringContaining('not encrypted'),
      })
    }
  }, 120_000)
})

describe('one wrong byte or a cut', () => {
  for (const isSealed of [false, true]) {
    const settings = (): Settings => (isSealed ? sealedSettings() : environmentOf(host.config))
    const its = isSealed ? unlocked : {}
    const kind = isSealed ? 'an encrypted backup' : 'a backup'
    const word = isSealed ? PASSPHRASE : null

    const copy = isSealed ? 'mark-copy' : 'mark'
    test(`of the catalog of ${kind} in ${copy} costs nothing, is said, and is mended by the next backup`, async () => {
      const target = newPlace()
      await done(['backup', target], made, settings())
      flip(join(target, copy))
      const back = await restoring(copyOf(target), its, '--json')
      expect(back).toMatchObject({ code: 0, errors: expect.stringContaining(`"${copy}" has other bytes`) })
      const next = await run(['backup', target, '--json'], settings())
      expect(next).toMatchObject({ code: 0, errors: expect.stringContaining('is made anew') })
      expect(next.json(made)).toMatchObject({ copied_contents: 0 })
      expect(await catalogOf(target, word)).toMatchObject({ isTwice: true, faults: [] })
    }, 120_000)

    test(`in both copies of the catalog of ${kind} is said with what to do, and --new-series begins anew`, async () => {
      const target = newPlace()
      await done(['backup', target], made, settings())
      for (const copy of COPIES) flip(join(target, copy))
      expect(await restoring(target, its)).toMatchObject({
        code: 1,
        errors: expect.stringContaining('its catalog is lost'),
      })
      expect(await run(['backup', target], settings())).toMatchObject({
        code: 1,
        errors: expect.stringContaining('--new-series'),
      })
      const anew = await done(['backup', target, '--new-series'], made, settings())
      // Without a key of its own the contents that are there are good still.
      if (!isSealed) expect(anew.copied_contents).toBe(0)
      await restoredFrom(target, its)
    }, 120_000)

    test(`of a content of ${kind} costs that content alone, and the next backups make it anew`, async () => {
      const target = newPlace()
      const text = `one of many contents, ${kind}`
      await upload(host, { name: 'many.txt', bytes: textBytes(text) })
      await done(['backup', target], made, settings())
      const { catalog } = await catalogOf(target, word)
      const rows = catalog.points.map(({ key }) => pathOf(target, key))
      const path =
        contentsOf(target).find((each) => !rows.includes(each.path) && each.bytes.length > 20)?.path ?? ''
      flip(path, 0.99)
      expect((await restoring(target, its)).code).toBe(3)
      // The restore has noted it.
      expect(await done(['backup', target], made, settings())).toMatchObject({ copied_contents: 1 })
      await restoredFrom(target, its)
      // What has another size is found without a restore.
      for (const size of [readFileSync(path).length - 1, 0]) {
        truncateSync(path, size)
        expect(await done(['backup', target], made, settings())).toMatchObject({ copied_contents: 1 })
      }
      unlinkSync(path)
      expect(await done(['backup', target], made, settings())).toMatchObject({ copied_contents: 1 })
      await restoredFrom(target, its)
    }, 120_000)

    test(`of the rows of one point of ${kind} leaves the others, and does not stop the next backup`, async () => {
      const target = newPlace()
      const first = await done(['backup', target], made, settings())
      await done(['backup', target], made, settings())
      const { catalog } = await catalogOf(target, word)
      const [, newest] = catalog.points
      flip(pathOf(target, newest?.key ?? ''))
      const back = await restoring(target, its)
      expect(back).toMatchObject({
        code: 1,
        errors: expect.stringContaining('Name an earlier point with --at'),
      })
      await restoredFrom(target, its, '--at', first.taken_at)
      const next = await run(['backup', target, '--keep-daily', '9', '--json'], settings())
      expect(next.code).toBe(0)
      await restoredFrom(target, its)
    }, 120_000)
  }

  test('of the rows of a point that is kept drops that point, and says so', async () => {
    const target = newPlace()
    const day = 86_400_000
    await backUp(target)
    const { catalog } = await catalogOf(target)
    const [point] = catalog.points
    if (point === undefined) throw new Error('there is no point')
    const kept = { ...point, takenAt: point.takenAt - day }
    const spare = { ...point, takenAt: point.takenAt - day - 1 }
    writeCatalog(target, { ...catalog, points: [spare, kept] })
    flip(pathOf(target, point.key))
    const next = await run(['backup', target, '--keep-daily', '7', '--json'])
    expect(next.code).toBe(3)
    expect(next.json(made)).toMatchObject({
      dropped_points: 1,
      lost_points: [new Date(kept.takenAt).toISOString()],
    })
    expect((await catalogOf(target)).catalog.points).toHaveLength(1)
    expect(await backUp(target, '--keep-daily', '7')).toMatchObject({ lost_points: [] })
    await restoredFrom(target)
  }, 120_000)
})

test('a kill between the two copies of the catalog leaves the newer one, which is copied by the next run', async () => {
  const target = newPlace()
  const first = await backUp(target)
  const older = readFileSync(join(target, 'mark-copy'))
  const second = await backUp(target)
  writeFileSync(join(target, 'mark-copy'), older)
  const found = await catalogOf(target)
  expect(found).toMatchObject({ faults: [], isTwice: false })
  expect(found.catalog.points).toHaveLength(2)
  expect(found.catalog.number).toBe(second.number)
  await restoredFrom(target, {}, '--at-least', `${second.series}/${second.number}`)
  expect((await catalogOf(target)).isTwice).toBe(true)
  expect(first.number).toBeLessThan(second.number)
  // Of two that differ the higher number counts, whichever it is.
  writeFileSync(join(target, 'mark'), older)
  expect((await catalogOf(target)).catalog.points).toHaveLength(2)
  expect(await backUp(target)).toMatchObject({ copied_contents: 0 })
}, 120_000)

test('a restored installation begins a series of its own, and the former one goes on only when it is told to', async () => {
  const target = newPlace()
  const { apiKey } = await host.addAccount()
  await caller(host.url, apiKey).upload(textBytes('before the restore'), 'before.txt')
  const first = await backUp(target)
  const place = await restoredFrom(target)
  const its = { HOLDFAST_DATA_DIR: place }
  const restoredOne = await done(['backup', target], made, its)
  expect(restoredOne.series).not.toBe(first.series)
  expect(restoredOne.number).toBeGreaterThan(first.number)
  expect(await run(['backup', target])).toMatchObject({
    code: 1,
    errors: expect.stringContaining('has another backup than'),
  })
  const again = await done(['backup', target], made, its)
  expect(again.series).toBe(restoredOne.series)
}, 120_000)

test('without a passphrase a restore says that nothing is authenticated, and with one that it is', async () => {
  const plain = newPlace()
  const { series, number } = await backUp(plain)
  const back = await restoring(plain)
  expect(back.output).toContain(`The catalog is ${series}/${number}`)
  expect(back.output).toContain('nothing in it is authenticated')
  const { target, point } = await sealedBackup()
  const sealed = await restoring(target, unlocked)
  expect(sealed.output).toContain(`The catalog is ${point.series}/${point.number}`)
  expect(sealed.output).not.toContain('nothing in it is authenticated')
  const json = await done(['restore', target], restored, { HOLDFAST_DATA_DIR: newPlace(), ...unlocked })
  expect(json).toMatchObject({ series: point.series, authenticated: true })
}, 120_000)

test('a bucket that cannot be reached is told in words of the settings of the backup, not of the store', async () => {
  const key = { HOLDFAST_BACKUP_S3_ACCESS_KEY_ID: 'key', HOLDFAST_BACKUP_S3_SECRET_ACCESS_KEY: 'secret' }
  const settings = { ...environmentOf(host.config), ...key }
  for (const command of ['backup', 'restore', 'drill']) {
    const { code, errors } = await run([command, 'http://127.0.0.1:9/bucket'], settings)
    expect(code).toBe(1)
    expect(errors).toContain('HOLDFAST_BACKUP')
    expect(errors).not.toContain('HOLDFAST_S3_')
  }
}, 120_000)

test('a backup on the disk of the data folder says so and is a fault to the doctor, and one on another disk is none', async () => {
  const inMemory = mkdtempSync('/dev/shm/holdfast-backup-')
  try {
    for (const target of [newPlace(), join(inMemory, 'backup')]) {
      const { code, errors } = await run(['backup', target])
      expect(code).toBe(0)
      const isOnDataDisk =
        statSync(target).dev === statSync(host.config.dataDir).dev && host.config.databaseUrl === null
      const own = {
        place: { kind: 'folder', path: target } as const,
        ...{ hours: 24, keepDaily: 7, keepWeekly: 4, rate: null, drillDays: 0, drillFolder: folder.path },
      }
      const now = host.clock.now()
      const state = await ownState(host.database, own, now)
      if (state === null) throw new Error('there is a place for backups')
      const { level, what } = checkBackups(state, own, now)
      expect({ target, level, isSaid: errors.includes('lies on the disk of the data folder') }).toEqual({
        target,
        level: isOnDataDisk ? 'problem' : 'ok',
        isSaid: isOnDataDisk,
      })
      expect(JSON.stringify(what).includes('lie on the disk of the data folder')).toBe(isOnDataDisk)
    }
  } finally {
    rmSync(inMemory, { recursive: true })
  }
}, 120_000)

test('a content that the place of the backup cannot take does not stop the others', async () => {
  const target = newPlace()
  await backUp(target)
  await upload(host, { name: 'stuck.txt', bytes: textBytes('its folder in the backup is none') })
  await upload(host, { name: 'fine.txt', bytes: textBytes('this one has its place') })
  const { key } = await (async () => {
    const shown = z.object({ key: z.string() })
    const rows = await host.database
      .selectFrom('blobs')
      .select('key')
      .orderBy('id', 'desc')
      .limit(2)
      .execute()
    return shown.parse(rows[1])
  })()
  // A folder in the place of the file.
  const path = pathOf(target, key)
  cpSync(join(target, 'tmp'), join(path, 'in the way'), { recursive: true })
  const next = await run(['backup', target, '--json'])
  expect(next.code).toBe(3)
  expect(next.json(made).damaged).toMatchObject([{ reason: expect.stringContaining('could not be copied') }])
  rmSync(path, { recursive: true })
  expect(await backUp(target)).toMatchObject({ copied_contents: 1, damaged: [] })
  const sound = await done(['check', '--read-data'], checked, {
    HOLDFAST_DATA_DIR: await restoredFrom(target),
  })
  expect(sound).toMatchObject({ damaged: [] })
}, 120_000)
