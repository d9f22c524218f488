/** `holdfast backup`, `restore` and `drill`, as people run them, beside running servers. */
// Only in test:all: many starts of the program; retention.test.ts has a rule.
// Only on a folder: backup-nodes.contract.test.ts has PostgreSQL and buckets.
import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as z from 'zod'
import { findContent } from '../../../../src/contents/contents.rows.ts'
import { openBackupRepair } from '../../../../src/contents/restore.ts'
import { DAY, MINUTE } from '../../../../src/domain/clock.ts'
import type { BlobKey } from '../../../../src/domain/ids.ts'
import { systemRandom } from '../../../../src/domain/random.ts'
import { caller } from '../../../support/clients/caller.ts'
import { GENEROUS, textBytes, upload } from '../../../support/clients/public.ts'
import { backupsOf, contentsOf } from '../../../support/operations/backups.ts'
import {
  checked,
  doneIn,
  drilled,
  environmentOf,
  isThere,
  made,
} from '../../../support/operations/commands.ts'
import { startChild } from '../../../support/processes/child.ts'
import { startHoldfast, type TestHoldfast } from '../../../support/servers/holdfast.ts'
import { overridden } from '../../../support/storage/overridden.ts'
import { contentOf, storeOf } from '../../../support/storage/stored-contents.ts'

const repairedBy = z.object({ marked: z.number(), repaired: z.array(z.string()) })

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
  test('brings every file back, with its owner, folder and link', async () => {
    const { apiKey } = await host.addAccount()
    const api = caller(host.url, apiKey)
    const place = await api.createFolder('letters')
    const { slug } = await api.upload(textBytes('a private letter'), 'letter.txt', place)
    const guests = await upload(host, { name: 'open.txt', bytes: textBytes('for everybody') })
    const empty = await upload(host, { name: 'empty.txt', bytes: new Uint8Array() })
    const target = newPlace()
    const point = await backUp(target)
    expect(point.damaged).toEqual([])
    expect(point.copied_contents).toBe(point.contents)
    expect(statSync(target).mode & 0o077).toBe(0)

    await using server = await startChild(await restoredFrom(target))
    expect(await isThere(server.url, slug, apiKey)).toBe('a private letter')
    expect(await isThere(server.url, guests.slug)).toBe('for everybody')
    expect(await isThere(server.url, empty.slug)).toBe('')
    // A restored pair takes files in as any other.
    const more = await fetch(`${server.url}/new.txt`, { method: 'PUT', body: 'new' })
    expect(more.ok).toBe(true)
    const drill = await done(['drill', target, '--scratch', folder.path], drilled)
    expect(drill).toMatchObject({ good: true, wrong: [], damaged: [] })
    expect(drill.read_files).toBeGreaterThanOrEqual(3)
  }, 120_000)

  test('is whole while files are uploaded, replaced and deleted', async () => {
    const { apiKey } = await host.addAccount()
    const api = caller(host.url, apiKey)
    const stop = new AbortController()
    const answered: string[] = []
    const traffic = [1, 2, 3, 4].map(async (client) => {
      const own: string[] = []
      for (let at = 0; !stop.signal.aborted; at++) {
        const bytes = textBytes(`${client} ${at % 7} `.repeat(500 * client))
        const { slug } = await api.upload(bytes, `${client}-${at}.txt`)
        if (at % 3 === 0) answered.push(slug)
        else own.push(slug)
        if (own.length > 3) await api.deleteFiles(own.splice(0, 2))
      }
    })
    const target = newPlace()
    try {
      for (let round = 0; round < 2; round++) {
        const had = [...answered]
        const point = await doneIn(folder.path, ['backup', target], made, environmentOf(host.config), {
          asChild: true,
        })
        expect(point.damaged).toEqual([])
        const place = await restoredFrom(target)
        const rows = new Database(join(place, 'holdfast.sqlite'), { readonly: true })
        const there = rows.query<{ slug: string }, []>('select slug from files').all()
        rows.close()
        const slugs = new Set(there.map(({ slug }) => slug))
        expect(had.filter((slug) => !slugs.has(slug))).toEqual([])
      }
    } finally {
      stop.abort()
      await Promise.all(traffic)
    }
    expect(answered.length).toBeGreaterThan(4)
  }, 180_000)

  test('goes on after one that was killed in the middle of a content', async () => {
    const target = newPlace()
    await backUp(target)
    const { slug } = await upload(host, { bytes: textBytes('of this one a kill left half') })
    const { key } = await contentOf(host, slug)
    writeFileSync(join(target, 'tmp', key), 'of this')
    expect(await backUp(target)).toMatchObject({ damaged: [] })
    expect(contentsOf(target).map(({ bytes }) => String(bytes))).toContain('of this one a kill left half')
  })

  test('gives damaged contents back to the installation', async () => {
    const target = newPlace()
    const text = 'what the disk of the installation will lose'
    const { slug } = await upload(host, { name: 'lost.txt', bytes: textBytes(text) })
    const { slug: late } = await upload(host, {
      name: 'late.txt',
      bytes: textBytes('changed, and not in the backup'),
    })
    await backUp(target)
    const { key: lost } = await contentOf(host, slug)
    const { key: changed } = await contentOf(host, late)
    await host.cutBlob(lost, null)
    const copy = contentsOf(target).find(({ bytes }) => bytes.toString() === 'changed, and not in the backup')
    rmSync(copy?.path ?? '')
    await host.cutBlob(changed, 3)
    const first = await run(['check', '--from', target, '--json'])
    expect(first.code).toBe(3)
    expect(first.json(repairedBy)).toMatchObject({
      marked: 1,
      repaired: [`content ${lost}: its bytes are back`],
    })
    expect(await isThere(host.url, slug)).toBe(text)
    const second = await run(['check', '--read-data', '--json'])
    expect(second.json(checked).damaged).toMatchObject([{ slug: late }])
    // The same content again heals the other one.
    await upload(host, { name: 'again.txt', bytes: textBytes('changed, and not in the backup') })
    expect(await done(['check', '--read-data'], checked)).toMatchObject({ damaged: [] })
    expect((await run(['check', '--from', target, '--dry-run'])).code).toBe(2)
  }, 120_000)

  test('that is killed while it gives one back leaves no content that nobody removes', async () => {
    const { database: db, clock } = host
    const target = newPlace()
    const { slug } = await upload(host, { bytes: textBytes('its copy was stored, and no more was done') })
    await backUp(target)
    const { id } = await contentOf(host, slug)
    const content = await findContent(db, id)
    if (content === undefined) throw new Error('the file has a content')
    const blobs = await storeOf(host)
    const stored = Promise.withResolvers<BlobKey>()
    const killed = overridden(blobs, {
      async create(key) {
        const writer = await blobs.create(key)
        return overridden(writer, {
          async complete() {
            await writer.complete()
            stored.resolve(key)
            return await new Promise<never>(() => {})
          },
        })
      },
    })
    const { repair, close } = await openBackupRepair({
      place: { kind: 'folder', path: target },
      passphrase: null,
      clock,
      random: systemRandom,
      signal: new AbortController().signal,
      onWait() {},
      onFault() {},
    })
    const parts = { db, blobs: killed, clock, random: systemRandom, minFree: 0 }
    void repair(parts, { content, damage: 'missing' })
    const key = await stored.promise
    await close()
    expect(await blobs.size(key)).toBe(content.size)
    clock.advance(DAY + MINUTE)
    await host.runJobs()
    expect(await blobs.size(key)).toBeNull()
    expect(await blobs.size(content.key)).toBe(content.size)
  })
})
