/** What a declared length tells before the body: whoever waits to be asked for a body that has no room is not asked. */
import { describe, expect, test } from 'bun:test'
import type { Config } from '../../../src/config.ts'
import type { ErrorCode } from '../../../src/domain/errors.ts'
import { api, newcomer, refusal, withHoldfast } from '../../support/clients/api.ts'
import { CHUNK, TUS, tus } from '../../support/clients/tus.ts'
import { openRaw } from '../../support/network/raw-connection.ts'
import { atNode, onCluster, type TestHoldfast } from '../../support/servers/holdfast.ts'

const MB = 1024 * 1024
const FORM = { 'Content-Type': 'multipart/form-data; boundary=x' }

/** The ways in, each with the head of a request that brings so many bytes. */
const ways = {
  form: (bytes: number) => ({ line: 'POST /api/v1/upload', headers: { ...FORM, 'Content-Length': bytes } }),
  'PUT at the top': (bytes: number) => ({ line: 'PUT /a.bin', headers: { 'Content-Length': bytes } }),
  'PUT of the API': (bytes: number) => ({
    line: 'PUT /api/v1/upload/a.bin',
    headers: { 'Content-Length': bytes },
  }),
  'creation of a resumable upload': (bytes: number) => ({
    line: 'POST /api/v1/uploads',
    headers: { ...TUS, ...CHUNK, 'Upload-Length': bytes, 'Content-Length': Math.min(bytes, 1000) },
  }),
}

/** The first thing that the server says to a sender that waits for 100 Continue. */
async function firstAnswer(
  holdfast: TestHoldfast,
  way: keyof typeof ways,
  bytes: number,
  more: Readonly<Record<string, string>> = {},
) {
  const { url } = atNode(holdfast)
  const connection = await openRaw(url)
  const { line, headers } = ways[way](bytes)
  const all = { Host: new URL(url).host, Expect: '100-continue', ...headers, ...more }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
  await connection.send(`${line} HTTP/1.1\r\n${lines.join('')}\r\n`)
  const answer = await connection.answer()
  connection.destroy()
  return answer
}

const kinds: readonly (keyof typeof ways)[] = [
  'form',
  'PUT at the top',
  'PUT of the API',
  'creation of a resumable upload',
]

describe.each(kinds)('a %s', (way) => {
  const refused = (what: string, settings: Partial<Config>, code: ErrorCode, key: boolean) =>
    test(`that is too large for ${what} is refused before its body is asked for`, () =>
      withHoldfast(settings, async (holdfast) => {
        const { apiKey } = await holdfast.addAccount()
        const more: Record<string, string> = key ? { Authorization: `Bearer ${apiKey}` } : {}
        const answer = await firstAnswer(holdfast, way, 40 * MB, more)
        expect(answer).toMatchObject(refusal(code))
        if (code === 'STORAGE_UNAVAILABLE') {
          const isFull = 'minFreeSpace' in settings
          expect(answer.body).toMatchObject({ reason: isFull ? 'full' : 'guests' })
          expect(Object(answer.body).message).toMatch(
            isFull ? /storage of this server is full/ : /space for uploads of guests/,
          )
        }
        if (code === 'RATE_LIMITED') {
          expect(Object(answer.body).message).toContain('more than that at once, and needs an account')
        }
        expect(await firstAnswer(holdfast, way, 1, more)).toMatchObject({
          status: code === 'STORAGE_UNAVAILABLE' && 'minFreeSpace' in settings ? 503 : 100,
        })
      }))

  refused('what the guest’s address may send in an hour', { guestHourlySize: 20 * MB }, 'RATE_LIMITED', false)
  refused('what all guests may store', { guestStorage: 20 * MB }, 'STORAGE_UNAVAILABLE', false)
  refused('a file', { maxFileSize: 20 * MB }, 'FILE_TOO_LARGE', false)
  refused('a file of an account', { maxFileSize: 20 * MB }, 'FILE_TOO_LARGE', true)
  refused('the account', { storageLimit: 20 * MB }, 'STORAGE_LIMIT_EXCEEDED', true)
  // S3 does not tell how much room it has, and PostgreSQL neither.
  if (!onCluster) {
    const noRoom = { minFreeSpace: Number.MAX_SAFE_INTEGER }
    refused('the disk', noRoom, 'STORAGE_UNAVAILABLE', false)
    refused('the disk, of an account', noRoom, 'STORAGE_UNAVAILABLE', true)
  }

  test('counts what the address has sent before, and says when to come again', () =>
    withHoldfast({ guestHourlySize: 5 * MB }, async (holdfast) => {
      await api(holdfast).put(new Uint8Array(2 * MB))
      expect(await firstAnswer(holdfast, way, 5 * MB)).toMatchObject(refusal('RATE_LIMITED'))
      expect(await firstAnswer(holdfast, way, 2 * MB)).toMatchObject({ status: 100 })
    }))

  test('counts what others of the account have under way', () =>
    withHoldfast({ storageLimit: 5 * MB }, async (holdfast) => {
      const { apiKey } = await holdfast.addAccount()
      await tus(api(holdfast, apiKey)).start(2 * MB)
      const more = { Authorization: `Bearer ${apiKey}` }
      expect(await firstAnswer(holdfast, way, 5 * MB, more)).toMatchObject(refusal('STORAGE_LIMIT_EXCEEDED'))
    }))
})

test('a resumable upload that tells its length later is refused as soon as it does', () =>
  withHoldfast({ guestHourlySize: MB, guestStorage: 20 * MB }, async (holdfast) => {
    const guest = tus(api(holdfast))
    const { path } = await guest.start(null)
    const late = await guest.patch(path, 0, new Uint8Array(10), { 'upload-length': String(2 * MB) })
    expect(late).toMatchObject(refusal('RATE_LIMITED'))
    expect(await guest.offset(path)).toBe(0)
    const right = await guest.patch(path, 0, new Uint8Array(10), { 'upload-length': '10' })
    expect(right.status).toBe(204)
    await (await newcomer(holdfast)).put(new Uint8Array(2 * MB))
  }))
