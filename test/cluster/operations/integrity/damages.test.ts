/** What administrators are told of stored bytes: which are damaged, which were, and whether all are read in time. */
import { beforeAll, describe, expect, test } from 'bun:test'
import { z } from 'zod'
import { damagedFilesAnswer } from '../../../../src/contract/administration.ts'
import { diagnosisAnswer, integrityAnswer } from '../../../../src/contract/operations.ts'
import { markDamaged } from '../../../../src/core/damage.rows.ts'
import { DAY } from '../../../../src/domain/clock.ts'
import { readMetrics } from '../../../support/clients/metrics.ts'
import { deleteFile, GENEROUS, textBytes, upload } from '../../../support/clients/public.ts'
import { atNode } from '../../../support/servers/holdfast.ts'
import { hostOfFile } from '../../../support/servers/owned-host.ts'
import { administrator, type TestAdministrator } from '../../../support/sign-in/administrator.ts'
import { contentOf, flipByte, storeOf } from '../../../support/storage/stored-contents.ts'

const TOKEN = 'a-token-for-prometheus'

let root: TestAdministrator
let key: string
const host = await hostOfFile({ ...GENEROUS, scrubDays: 30, metrics: { token: TOKEN } })
beforeAll(async () => {
  root = await administrator(host)
  key = (await host.addAccount('ann')).apiKey
})

const stored = (name: string) => upload(host, { key, name, bytes: textBytes(name) })

async function state() {
  const { text } = await root.get('/api/v1/admin/integrity')
  return integrityAnswer.parse(JSON.parse(text)).data
}

async function listed(which: 'damaged' | 'repaired') {
  const reply = await root.get(`/api/v1/admin/damaged?state=${which}`)
  const { data, pagination } = damagedFilesAnswer.parse(JSON.parse(reply.text))
  expect(pagination.total).toBe(data.length)
  return data
}

async function told(check: string) {
  const { text } = await root.act('POST', '/doctor')
  const { services } = diagnosisAnswer.parse(JSON.parse(text)).data
  return z.object({ level: z.string(), what: z.string() }).parse(services.find((it) => it.check === check))
}

/** Marks the content of a file, as `holdfast check` does from another process. */
async function mark(file: { readonly slug: string }) {
  const copy = await contentOf(host, file.slug)
  expect(await markDamaged(host.database, copy, 'hash', host.clock.now())).toBe(true)
  return copy
}

describe('administrators', () => {
  test('are told which files are damaged at once, and which are sound again', async () => {
    const [changed, gone] = [await stored('changed'), await stored('gone')]
    expect(await state()).toMatchObject({ contents_damaged: 0, contents_repaired: 0 })
    const copy = await mark(changed)
    await mark(gone)
    const found = await listed('damaged')
    expect(found.map(({ name }) => name).sort()).toEqual(['changed', 'gone'])
    expect(found.find(({ name }) => name === 'changed')).toMatchObject({
      slug: changed.slug,
      key: copy.key,
      reason: 'hash',
      account: { username: 'ann' },
      repaired_at: null,
    })
    await host.runJobs()
    expect(await told('damage')).toMatchObject({ level: 'problem', what: '2 contents are damaged' })
    await stored('changed')
    await deleteFile(host, key, gone.slug)
    await host.runJobs()
    await host.runJobs()
    expect(await state()).toMatchObject({ contents_damaged: 0, contents_repaired: 1 })
    expect(await listed('damaged')).toEqual([])
    const repaired = await listed('repaired')
    expect(repaired.map(({ name, reason }) => [name, reason])).toEqual([
      ['changed', null],
      ['changed', null],
    ])
    expect(repaired.every((file) => file.key === copy.key && file.repaired_at !== null)).toBe(true)
    expect(await told('damage')).toMatchObject({ level: 'ok' })
    const metrics = await readMetrics(atNode(host), TOKEN)
    expect(metrics.sum('holdfast_repaired_contents', {})).toBe(1)
  })

  test('are told once of a copy that is marked, sound for a while, and marked again', async () => {
    const file = await stored('wavering')
    await mark(file)
    await host.runJobs()
    const { id, key: copy } = await contentOf(host, file.slug)
    await host.database.updateTable('blobs').set({ damaged_key: null }).where('id', '=', id).execute()
    await host.runJobs()
    const before = (await state()).contents_repaired
    await mark(file)
    await host.runJobs()
    expect(await state()).toMatchObject({ contents_damaged: 1, contents_repaired: before - 1 })
    const rows = await host.database
      .selectFrom('damages')
      .select('ended_at')
      .where('key', '=', copy)
      .execute()
    expect(rows).toEqual([{ ended_at: null }])
    await stored('wavering')
  })

  test('are told what is due to be read, and that the server is behind or cannot', async () => {
    const file = await stored('read')
    await host.runJobs()
    const now = host.clock.now()
    expect((await state()).scrub).toMatchObject({ days: 30, due_contents: 0, due_exact: true, failure: null })
    expect(await told('scrub')).toMatchObject({ level: 'ok' })
    const { id, key: copy } = await contentOf(host, file.slug)
    const waits = (days: number) =>
      host.database
        .updateTable('blobs')
        .set({ created_at: now - days * DAY, verified_at: null })
        .where('id', '=', id)
        .execute()
    await waits(46)
    expect((await state()).scrub).toMatchObject({
      due_contents: 1,
      due_bytes: 4,
      oldest_unverified_at: new Date(now - 46 * DAY).toISOString(),
    })
    const behind = await told('scrub')
    expect(behind.level).toBe('problem')
    expect(behind.what).toStartWith('some stored bytes were not read for 46 days')
    await flipByte(host, copy)
    const blobs = await storeOf(host)
    const mark = (await blobs.readMark()) ?? ''
    await blobs.writeMark('another')
    await host.runJobs()
    const { failure } = (await state()).scrub ?? {}
    expect(failure).toContain('store')
    expect(await told('scrub')).toMatchObject({
      level: 'problem',
      what: expect.stringContaining(failure ?? ''),
    })
    await blobs.writeMark(mark)
    await flipByte(host, copy)
    await host.runJobs()
    expect((await state()).scrub).toMatchObject({ due_contents: 0, failure: null })
    expect(await told('scrub')).toMatchObject({ level: 'ok' })
  })
})
