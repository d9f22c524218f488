/** One writer at a time: broken connections, senders that fall silent, and several who write to one upload. */
import { beforeAll, describe, expect, test } from 'bun:test'
import { z } from 'zod'
import type { Slug } from '../../../../src/domain/ids.ts'
import { QUIET_AFTER } from '../../../../src/uploads/resumable/append.ts'
import { chance } from '../../../support/chance.ts'
import { type Api, api, newcomer, refusal } from '../../../support/clients/api.ts'
import { readBack, sha256 } from '../../../support/clients/caller.ts'
import { openPatch, type Tus, tus, UPLOADS } from '../../../support/clients/tus.ts'
import { eventually } from '../../../support/eventually.ts'
import { openRaw } from '../../../support/network/raw-connection.ts'
import { hostOfFile } from '../../../support/servers/owned-host.ts'

const MB = 1024 * 1024
const random = chance(9)

let guest: Tus
const holdfast = await hostOfFile()
beforeAll(async () => {
  guest = tus(api(holdfast))
})

/** Asks where to go on until nobody else writes. */
async function offsetOnceFree(path: string): Promise<number> {
  let offset = -1
  await eventually('the upload is free', async () => {
    const answer = await guest.head(path)
    if (answer.status === 423) return false
    expect(answer.status).toBe(200)
    offset = Number(answer.headers.get('upload-offset'))
    return true
  })
  return offset
}

/** Until the upload has a writer. On several nodes a later request may otherwise come first. */
function untilTaken(slug: string): Promise<void> {
  return eventually('somebody writes', async () => {
    const row = await holdfast.database
      .selectFrom('uploads')
      .select('node')
      .where('slug', '=', slug as Slug)
      .executeTakeFirst()
    return (row?.node ?? null) !== null
  })
}

describe('a connection that is cut', () => {
  test('leaves what has arrived, and the upload goes on from there', async () => {
    const content = random.bytes(20 * MB)
    const { path, slug } = await guest.start(content.length)
    let offset = 0
    for (const cut of [1000, 3 * MB, 9 * MB + 17, 15 * MB]) {
      const patch = await openPatch(holdfast.url, path, { offset, length: content.length - offset })
      await patch.send(content.subarray(offset, cut))
      await untilTaken(slug)
      // What the system has taken from us need not have arrived.
      await Bun.sleep(100)
      patch.destroy()
      const present = await offsetOnceFree(path)
      expect(present).toBeGreaterThanOrEqual(offset)
      expect(present).toBeLessThanOrEqual(cut)
      offset = present
    }
    expect(offset).toBeGreaterThan(0)
    const last = await guest.patch(path, offset, content.slice(offset))
    expect(last.status).toBe(204)
    expect(await readBack(holdfast.url, slug)).toEqual({ size: content.length, sha256: sha256(content) })
  })

  test('in the middle of a creation with bytes leaves no upload that nobody knows the address of', async () => {
    const key = (await holdfast.addAccount()).apiKey
    const connection = await openRaw(holdfast.url)
    const lines = [
      `POST ${UPLOADS} HTTP/1.1`,
      `Host: ${new URL(holdfast.url).host}`,
      `Authorization: Bearer ${key}`,
      'Tus-Resumable: 1.0.0',
      'Content-Type: application/offset+octet-stream',
      'Upload-Length: 5000000',
      'Content-Length: 5000000',
    ]
    await connection.send(`${lines.join('\r\n')}\r\n\r\n`)
    await connection.send(random.bytes(MB))
    const count = async () => {
      const { body } = await api(holdfast, key).get(UPLOADS)
      return z.object({ data: z.array(z.unknown()) }).parse(body).data.length
    }
    await eventually('it has begun', async () => (await count()) === 1)
    connection.destroy()
    await eventually('it has ended', async () => (await count()) === 0)
  })

  test('leaves nothing of bytes that a checksum was to be held against', async () => {
    const { path, slug } = await guest.start(10 * MB)
    const headers = { 'Upload-Checksum': 'crc32c AAAAAA==' }
    const patch = await openPatch(holdfast.url, path, { offset: 0, length: 10 * MB, headers })
    await patch.send(random.bytes(5 * MB))
    await untilTaken(slug)
    // Without a checksum, what has come is recorded after a second of silence.
    await Bun.sleep(2 * QUIET_AFTER)
    patch.destroy()
    expect(await offsetOnceFree(path)).toBe(0)
  })
})

describe('a sender that falls silent', () => {
  test.each(['HEAD', 'PATCH'])('gives way to a %s, and what it sent is kept', async (method) => {
    const content = random.bytes(2 * MB)
    const { path, slug } = await guest.start(content.length)
    const silent = await openPatch(holdfast.url, path, { offset: 0, length: content.length })
    await silent.send(content.subarray(0, MB))
    await untilTaken(slug)
    let offset = 0
    if (method === 'HEAD') offset = await offsetOnceFree(path)
    else {
      await eventually('the upload has moved on', async () => {
        const answer = await guest.patch(path, 0, content.slice(0, 1))
        expect([409, 423]).toContain(answer.status)
        return answer.status === 409
      })
      offset = await guest.offset(path)
    }
    expect(offset).toBe(MB)
    expect(await silent.answer()).toMatchObject({ status: 423, body: { error: 'UPLOAD_LOCKED' } })
    expect((await guest.patch(path, offset, content.slice(offset))).status).toBe(204)
    // Too late, whatever it is.
    await silent.send(random.bytes(MB))
    silent.destroy()
    expect(await readBack(holdfast.url, slug)).toEqual({ size: content.length, sha256: sha256(content) })
  })

  test('gives way to DELETE at once', async () => {
    const { path, slug } = await guest.start(2 * MB)
    const silent = await openPatch(holdfast.url, path, { offset: 0, length: 2 * MB })
    await silent.send(random.bytes(MB))
    await untilTaken(slug)
    expect((await guest.remove(path)).status).toBe(204)
    expect((await guest.head(path)).status).toBe(404)
    silent.destroy()
  })
})

describe('a sender that sends on', () => {
  test('keeps its turn: another one is told that the upload is locked, and the file is right', async () => {
    const content = random.bytes(MB)
    const { path, slug } = await guest.start(content.length)
    const lively = await openPatch(holdfast.url, path, { offset: 0, length: content.length })
    const steps = 32
    const step = content.length / steps
    const sending = (async () => {
      for (let at = 0; at < steps; at++) {
        await lively.send(content.subarray(at * step, (at + 1) * step))
        await Bun.sleep(150)
      }
    })()
    await untilTaken(slug)
    const [head, patch] = await Promise.all([guest.head(path), guest.patch(path, 0, random.bytes(5))])
    expect(head.status).toBe(423)
    expect([409, 423]).toContain(patch.status)
    await sending
    expect((await lively.answer()).status).toBe(204)
    expect(await readBack(holdfast.url, slug)).toEqual({ size: content.length, sha256: sha256(content) })
  })
})

test('of several who start at the same offset one wins, and no bytes are mixed', async () => {
  const { path, slug } = await guest.start(4 * MB)
  const contents = Array.from({ length: 5 }, () => random.bytes(4 * MB))
  const answers = await Promise.all(contents.map((content) => guest.patch(path, 0, content)))
  const won = answers.flatMap(({ status }, at) => (status === 204 ? [at] : []))
  expect(won).toHaveLength(1)
  for (const { status } of answers) expect([204, 409, 423]).toContain(status)
  const content = contents[won[0] ?? 0] ?? new Uint8Array()
  expect(await readBack(holdfast.url, slug)).toEqual({ size: content.length, sha256: sha256(content) })
})

test('two who fight for an upload, each going on where it is, bring it to its end', async () => {
  const content = random.bytes(6 * MB)
  const { path, slug } = await guest.start(content.length)
  const fight = async () => {
    for (;;) {
      const head = await guest.head(path)
      const offset = Number(head.headers.get('upload-offset') ?? -1)
      if (offset === content.length) return
      if (offset < 0) continue
      const answer = await guest.patch(path, offset, content.slice(offset, offset + 700_000))
      expect([204, 409, 423]).toContain(answer.status)
    }
  }
  await Promise.all([fight(), fight()])
  expect(await readBack(holdfast.url, slug)).toEqual({ size: content.length, sha256: sha256(content) })
})

describe('what is told of an upload', () => {
  let caller: Api
  let key: string
  beforeAll(async () => {
    key = (await holdfast.addAccount()).apiKey
    caller = api(holdfast, key)
  })

  test('while its bytes come moves on, without disturbing the sender', async () => {
    const client = tus(caller)
    const content = random.bytes(3 * MB)
    const { path, slug } = await client.start(content.length)
    const patch = await openPatch(holdfast.url, path, {
      offset: 0,
      length: content.length,
      headers: { Authorization: `Bearer ${key}` },
    })
    for (let at = 0; at < 24; at++) {
      await patch.send(content.subarray(at * 100_000, (at + 1) * 100_000))
      await Bun.sleep(100)
    }
    const status = await caller.get(`/api/v1/upload/status?slug=${slug}`)
    expect(status).toMatchObject({ status: 200, body: { status: 'uploading', size: content.length } })
    expect(await client.look(path)).toMatchObject({ status: 200, body: { status: 'uploading' } })
    await patch.send(content.subarray(2_400_000))
    expect((await patch.answer()).status).toBe(204)
    expect(await caller.get(`/api/v1/upload/status?slug=${slug}`)).toMatchObject({
      body: { status: 'completed', received: content.length, size: content.length },
    })
  })

  test('that somebody else started with a key takes that account’s key', async () => {
    const { path } = await tus(caller).start(10)
    const stranger = await newcomer(holdfast)
    for (const method of ['HEAD', 'DELETE', 'PATCH'] as const) {
      const headers = {
        'tus-resumable': '1.0.0',
        'content-type': 'application/offset+octet-stream',
        'upload-offset': '0',
      }
      expect((await api(holdfast).send(path, { method, headers })).status).toBe(401)
      expect((await stranger.send(path, { method, headers })).status).toBe(404)
    }
    expect(await api(holdfast).get(path)).toMatchObject(refusal('INVALID_API_KEY'))
    expect(await stranger.get(path)).toMatchObject(refusal('UPLOAD_NOT_FOUND'))
    expect(await tus(caller).offset(path)).toBe(0)
    expect((await api(holdfast).get(UPLOADS)).status).toBe(401)
  })
})
