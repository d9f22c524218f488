/** What a backup keeps in its target and what it refuses, whatever it was made of. */
// Only in test:all: many starts of the program; retention.test.ts has a rule.
// Only on a folder: is about what lies in the target.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as z from 'zod'
import { MAIN, onlyThese } from '../../../support/cli/command.ts'
import { caller } from '../../../support/clients/caller.ts'
import { GENEROUS, textBytes, upload } from '../../../support/clients/public.ts'
import { backupsOf, contentsOf } from '../../../support/operations/backups.ts'
import {
  checked,
  drilled,
  environmentOf,
  isThere,
  made,
  restored,
  type Settings,
} from '../../../support/operations/commands.ts'
import { startChild } from '../../../support/processes/child.ts'
import { startHoldfast, type TestHoldfast } from '../../../support/servers/holdfast.ts'

const PASSPHRASE = 'correct horse battery staple'

/** Starts the command again and again, and kills it later each time. How often it had not ended by then. */
async function killedRuns(words: readonly string[], settings: Settings): Promise<number> {
  let killed = 0
  for (let after = 300; after < 1400; after += 400) {
    const child = Bun.spawn([process.execPath, '--no-env-file', MAIN, ...words], {
      cwd: folder.path,
      env: onlyThese(settings),
      stdin: 'ignore',
      stdout: 'ignore',
      stderr: 'ignore',
    })
    await Promise.race([child.exited, Bun.sleep(after)])
    if (child.exitCode === null) killed++
    child.kill('SIGKILL')
    await child.exited
  }
  return killed
}

let host: TestHoldfast
const { folder, newPlace, run, done, backUp, restoredFrom } = backupsOf(() => host)
beforeAll(async () => {
  host = await startHoldfast(GENEROUS)
})
afterAll(async () => {
  await host.stop()
  folder[Symbol.dispose]()
})

describe('a backup', () => {
  test('copies only what is new, and goes back to any of its points', async () => {
    const target = newPlace()
    const { slug: early } = await upload(host, { name: 'early.txt', bytes: textBytes('early') })
    const first = await backUp(target)
    const { slug: late } = await upload(host, { name: 'late.txt', bytes: textBytes('late, and longer') })
    const second = await backUp(target)
    expect(second).toMatchObject({ copied_contents: 1, copied_bytes: 16, files: first.files + 1 })
    expect(await backUp(target)).toMatchObject({ copied_contents: 0, copied_bytes: 0 })
    const points = await done(['restore', target, '--points'], z.array(z.object({ taken_at: z.string() })))
    expect(points.map(({ taken_at }) => taken_at).slice(0, 2)).toEqual([first.taken_at, second.taken_at])
    await using then = await startChild(await restoredFrom(target, {}, '--at', first.taken_at))
    expect(await isThere(then.url, early)).toBe('early')
    expect(await isThere(then.url, late).catch(() => 'not there')).toBe('not there')
    await using now = await startChild(await restoredFrom(target))
    expect(await isThere(now.url, late)).toBe('late, and longer')
    const before = await run(['restore', target, '--at', '2001-01-01'], { HOLDFAST_DATA_DIR: newPlace() })
    expect(before).toMatchObject({ code: 1, errors: expect.stringContaining('no point that is so old') })
    expect((await run(['restore', target, '--points', '--at', first.taken_at])).code).toBe(2)
  }, 120_000)

  test('keeps as many points as it is told, and no content that none of them names', async () => {
    const target = newPlace()
    const { apiKey } = await host.addAccount()
    const api = caller(host.url, apiKey)
    const { slug } = await api.upload(textBytes('only in the first point'), 'gone.txt')
    await backUp(target)
    const has = () => contentsOf(target).some(({ bytes }) => bytes.toString() === 'only in the first point')
    expect(has()).toBe(true)
    await api.deleteFiles([slug])
    await host.runJobs()
    host.clock.advance(24 * 3_600_000 * 60)
    await host.runJobs()
    // What the server keeps of its own backups says nothing of a run by hand.
    const own = {
      ...environmentOf(host.config),
      HOLDFAST_BACKUP: target,
      HOLDFAST_BACKUP_KEEP_DAILY: '1',
      HOLDFAST_BACKUP_KEEP_WEEKLY: '0',
    }
    expect(await done(['backup'], made, own)).toMatchObject({ dropped_points: 0 })
    expect(has()).toBe(true)
    // Left by a run that was killed before it had added its point.
    const stray = join(target, 'ab', 'ab'.repeat(16))
    writeFileSync(stray, 'stray')
    expect(await backUp(target, '--keep-daily', '2')).toMatchObject({ dropped_points: 2 })
    expect(has()).toBe(false)
    expect(existsSync(stray)).toBe(false)
    await restoredFrom(target)
  }, 120_000)

  test('tells of contents that are damaged, and names what cannot be brought back', async () => {
    const target = newPlace()
    const text = 'a text that a disk will change'
    const { slug } = await upload(host, { name: 'rot.txt', bytes: textBytes(text) })
    await backUp(target)
    const copy = contentsOf(target).find(({ bytes }) => bytes.toString() === text)
    writeFileSync(copy?.path ?? '', text.replace('disk', 'dusk'))
    const place = newPlace()
    const back = await run(['restore', target, '--json'], { HOLDFAST_DATA_DIR: place })
    expect(back.code).toBe(3)
    expect(back.json(restored).damaged).toMatchObject([
      { slug, reason: expect.stringContaining('other bytes') },
    ])
    const drill = await run(['drill', target, '--scratch', folder.path, '--json'])
    expect(drill.code).toBe(3)
    expect(drill.json(drilled)).toMatchObject({ good: false, damaged: [{ slug }] })
    // What a rehearsal found damaged is copied again, and what is lost, where the installation still has it.
    expect(await backUp(target)).toMatchObject({ copied_contents: 1, damaged: [] })
    expect(await backUp(target)).toMatchObject({ copied_contents: 0 })
    rmSync(copy?.path ?? '')
    expect(await backUp(target)).toMatchObject({ copied_contents: 1 })
    await restoredFrom(target)
  }, 120_000)

  test('is read by nobody without its passphrase', async () => {
    const target = newPlace()
    const secret = 'what nobody else may read '.repeat(4000)
    const { slug } = await upload(host, { name: 'secret.txt', bytes: textBytes(secret) })
    const passphrase = join(folder.path, 'passphrase')
    writeFileSync(passphrase, `${PASSPHRASE}\n`)
    const its = { ...environmentOf(host.config), HOLDFAST_BACKUP_PASSPHRASE_FILE: passphrase }
    await done(['backup', target], made, its)
    expect(await done(['backup', target], made, its)).toMatchObject({ copied_contents: 0 })
    const stored = contentsOf(target)
    const isSealed = ({ bytes }: { bytes: Buffer }) =>
      bytes.toString('latin1').startsWith('holdfast-backup-content/3\n')
    expect(stored.every(isSealed)).toBe(true)
    expect(stored.some(({ bytes }) => bytes.includes('what nobody else'))).toBe(false)

    expect(await run(['backup', target])).toMatchObject({
      code: 1,
      errors: expect.stringContaining('HOLDFAST_BACKUP_PASSPHRASE_FILE'),
    })
    const other = join(folder.path, 'other-passphrase')
    writeFileSync(other, 'another passphrase')
    const wrong = { HOLDFAST_DATA_DIR: newPlace(), HOLDFAST_BACKUP_PASSPHRASE_FILE: other }
    expect(await run(['restore', target], wrong)).toMatchObject({
      code: 1,
      errors: expect.stringContaining('not the one of this backup'),
    })
    writeFileSync(other, 'short')
    expect((await run(['restore', target], wrong)).code).toBe(1)

    await using server = await startChild(
      await restoredFrom(target, { HOLDFAST_BACKUP_PASSPHRASE_FILE: passphrase }),
    )
    expect(await isThere(server.url, slug)).toBe(secret)
  }, 120_000)

  test('goes on after a kill at any moment, and so does a restore', async () => {
    const { apiKey } = await host.addAccount()
    const api = caller(host.url, apiKey)
    for (let at = 0; at < 30; at++) await api.upload(textBytes(`${at} `.repeat(40_000)), `${at}.txt`)
    const target = newPlace()
    const killed = await killedRuns(['backup', target, '--keep-daily', '1'], environmentOf(host.config))
    await backUp(target, '--keep-daily', '1')
    const place = newPlace()
    const broken = await killedRuns(['restore', target], { HOLDFAST_DATA_DIR: place })
    const ended = await run(['restore', target], { HOLDFAST_DATA_DIR: place })
    // A run that ended before its kill has restored everything already.
    if (ended.code !== 0) expect(ended.errors).toContain('not empty')
    const sound = await done(['check', '--read-data'], checked, { HOLDFAST_DATA_DIR: place })
    expect(sound).toMatchObject({ damaged: [], orphans: [], sums: [] })
    expect(killed + broken).toBeGreaterThan(1)
    const scratch = readdirSync(tmpdir()).filter((name) => name.startsWith('holdfast-scratch-'))
    await done(['restore', target, '--points'], z.array(z.unknown()))
    expect(scratch.length).toBeLessThanOrEqual(1)
  }, 240_000)

  test('refuses places that are not its own', async () => {
    const target = newPlace()
    expect(await run(['restore', target], { HOLDFAST_DATA_DIR: newPlace() })).toMatchObject({
      code: 1,
      errors: expect.stringContaining('there is no backup'),
    })
    expect(existsSync(target)).toBe(false)
    mkdirSync(target)
    writeFileSync(join(target, 'letter.txt'), 'mine')
    expect(await run(['backup', target])).toMatchObject({
      code: 1,
      errors: expect.stringContaining('there are other things'),
    })
    expect(readdirSync(target)).toEqual(['letter.txt'])
    expect(await run(['backup', join(host.config.dataDir, 'backup')])).toMatchObject({
      code: 1,
      errors: expect.stringContaining('lies where the server keeps its files'),
    })
    const good = newPlace()
    await backUp(good)
    const place = await restoredFrom(good)
    expect(await run(['backup', join(place, 'blobs')])).toMatchObject({
      code: 1,
      errors: expect.stringContaining('is no backup'),
    })
    expect(await run(['restore', good], { HOLDFAST_DATA_DIR: place })).toMatchObject({
      code: 1,
      errors: expect.stringContaining('not empty'),
    })
    for (const words of [
      ['backup'],
      ['backup', good, '--keep-daily', 'x'],
      ['restore', good, '--at', 'noon'],
      ['drill', good, '--sample', '0'],
    ]) {
      expect((await run(words)).code).toBe(2)
    }
  }, 120_000)
})
