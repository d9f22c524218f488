/** A database that was restored from a copy while its store has gone on. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { z } from 'zod'
import { MINUTE, SECOND } from '../../../src/domain/clock.ts'
import {
  deleteFile,
  GENEROUS,
  randomBytes,
  signedAddress,
  upload,
  visit,
} from '../../support/clients/public.ts'
import { keptLog } from '../../support/kept-log.ts'
import { startHoldfast, type TestHoldfast } from '../../support/servers/holdfast.ts'

const log = keptLog()
let host: TestHoldfast
let key: string
beforeAll(async () => {
  host = await startHoldfast({ ...GENEROUS, metrics: { token: null } }, log)
  key = (await host.addAccount('owner')).apiKey
})
afterAll(() => host.stop())

const generation = async () => {
  const rows = host.database.selectFrom('meta').select('value').where('key', '=', 'generation')
  return Number((await rows.executeTakeFirstOrThrow()).value)
}

/** What a copy of that time would bring back. */
const restore = (value: number) =>
  host.database
    .updateTable('meta')
    .set({ value: String(value) })
    .where('key', '=', 'generation')
    .execute()

const readiness = z.object({ removals: z.boolean() })

const removals = async () => {
  const ready = await visit(host, '/ready')
  expect(ready.status).toBe(200)
  const may = readiness.parse(await ready.json()).removals
  const metrics = await (await visit(host, '/metrics')).text()
  expect(metrics).toContain(`\nholdfast_removals_held_back ${may ? 0 : 1}\n`)
  expect(metrics).toContain('\nholdfast_store_up 1\n')
  return may
}

/** Whether the bytes of a file are gone once it is deleted and everything that is due is done. */
async function isRemovedOnceDeleted(): Promise<boolean> {
  const before = await host.storedBlobs()
  const file = await upload(host, { key, bytes: randomBytes(1000) })
  expect((await visit(host, await signedAddress(host, file))).status).toBe(200)
  await deleteFile(host, key, file.slug)
  for (let time = 0; time < 3; time++) {
    host.clock.advance(2 * MINUTE)
    await host.runJobs()
  }
  return (await host.storedBlobs()).length === before.length
}

test('a restored database serves and removes no bytes until it takes its store over', async () => {
  const copied = await generation()
  expect(await isRemovedOnceDeleted()).toBe(true)
  await host.restart()
  expect(await generation()).toBeGreaterThan(copied)
  expect(await removals()).toBe(true)
  await host.restart(async () => {
    await restore(copied)
  })
  expect(await generation()).toBe(copied)
  expect(
    log.lines.filter(({ level, message }) => level === 'error' && message.includes('takeover')),
  ).not.toEqual([])
  expect(await removals()).toBe(false)
  expect(await isRemovedOnceDeleted()).toBe(false)
  const kept = (await host.storedBlobs()).length
  expect(await host.takeOver()).toBe('newer')
  expect(await host.takeOver()).toBe('nothing')
  host.clock.advance(6 * SECOND)
  expect(await removals()).toBe(true)
  await host.runJobs()
  expect((await host.storedBlobs()).length).toBe(kept - 1)
  await host.restart()
  expect(await removals()).toBe(true)
})

test('a database that is restored while it is served removes no bytes from then on', async () => {
  const present = await generation()
  await restore(present - 1)
  host.clock.advance(6 * SECOND)
  expect(await isRemovedOnceDeleted()).toBe(false)
  expect(await removals()).toBe(false)
  await host.takeOver()
})
