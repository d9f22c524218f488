/** What counts as one view or one download: probes, parts and repeats of one program count nothing besides. */
// Only in test:all: each way to download; counting.test.ts has the rule.
import { describe, expect, test } from 'bun:test'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { z } from 'zod'
import { makeLink } from '../../support/clients/links.ts'
import {
  api,
  detail,
  makeFolder,
  randomBytes,
  signedAddress,
  type Uploaded,
  upload,
  visit,
} from '../../support/clients/public.ts'
import { eventually } from '../../support/eventually.ts'
import { runProgram } from '../../support/processes/program.ts'
import { testWith } from '../../support/processes/tools.ts'
import { ownedHost } from '../../support/servers/owned-host.ts'

const { host, key } = await ownedHost()
const BYTES = randomBytes(3_000_000)
const PROBES = ['bytes=0-0', 'bytes=0-1', 'bytes=1-1']
/** What a player asks for: whether ranges are answered, all of it, the index at its end, and on from the middle. */
const PLAYBACK = ['bytes=0-1', 'bytes=0-2999999', 'bytes=2900000-', 'bytes=700000-']

const put = (name = 'film.mp4', folder = 'root') =>
  folder === 'root'
    ? upload(host, { key, name, bytes: BYTES })
    : upload(host, { key, name, folder, bytes: BYTES })

async function read(address: string, ranges: readonly (string | null)[]): Promise<void> {
  for (const range of ranges) {
    const answer = await visit(host, address, {
      redirect: 'follow',
      headers: range === null ? {} : { range },
    })
    expect(answer.status).toBe(range === null ? 200 : 206)
    await answer.bytes()
  }
}

async function counts(file: Uploaded): Promise<{ readonly views: number; readonly downloads: number }> {
  await host.settle()
  const { views, downloads } = await detail(host, key, file)
  return { views, downloads }
}

const ways: readonly (readonly [string, (file: Uploaded) => Promise<string>])[] = [
  ['at its signed address', (file) => signedAddress(host, file)],
  ['at /d', async (file) => `/d/${file.slug}?download=1`],
  ['by a made link', async (file) => `/l/${await makeLink(host, key, { files: [file.uuid] })}?download=1`],
]

describe('one download is counted once', () => {
  test.each(ways)('%s, whatever a program asks for besides', async (_, addressOf) => {
    const file = await put()
    const address = await addressOf(file)
    await read(address, PROBES)
    expect(await counts(file)).toEqual({ views: 0, downloads: 0 })
    await read(address, ['bytes=0-999999', 'bytes=1000000-1999999', 'bytes=2000000-'])
    expect(await counts(file)).toEqual({ views: 0, downloads: 1 })
  })

  test('of a made link, and by its own count', async () => {
    const file = await put()
    const link = await makeLink(host, key, { files: [file.uuid] })
    await read(`/l/${link}?download=1`, [...PROBES, null])
    const told = z.object({ data: z.object({ downloads: z.number() }) })
    const ofLink = async () =>
      told.parse((await api(host, key, 'GET', `/api/v1/links/${link}`)).body).data.downloads
    await eventually('the download by the link is written', async () => (await ofLink()) > 0)
    await host.settle()
    expect(await ofLink()).toBe(1)
  })

  test('of a zip', async () => {
    const folder = await makeFolder(host, key)
    const file = await put('inside.mp4', folder)
    await read(`/f/${folder}?download=zip`, PROBES)
    expect(await counts(file)).toEqual({ views: 0, downloads: 0 })
    await read(`/f/${folder}?download=zip`, [null])
    expect(await counts(file)).toEqual({ views: 0, downloads: 1 })
  })

  test('of a file of two bytes or one, which no probe is shorter than', async () => {
    for (const size of [1, 2]) {
      const file = await upload(host, { key, name: 'tiny.bin', bytes: randomBytes(size) })
      await read(await signedAddress(host, file), [`bytes=0-${size - 1}`])
      expect(await counts(file)).toEqual({ views: 0, downloads: 1 })
    }
  })

  testWith(['aria2c'], 'of aria2c in four parts', async () => {
    const file = await put()
    const folder = await mkdtemp(join(tmpdir(), 'holdfast-aria2c-'))
    const options = [
      '-x4',
      '-s4',
      '-k1M',
      '--quiet',
      '--file-allocation=none',
      '-d',
      folder,
      '-o',
      'film.mp4',
    ]
    const { code } = await runProgram(['aria2c', ...options, `${host.url}/d/${file.slug}?download=1`])
    expect(code).toBe(0)
    expect(await Bun.file(join(folder, 'film.mp4')).bytes()).toEqual(BYTES)
    await rm(folder, { recursive: true })
    expect(await counts(file)).toEqual({ views: 0, downloads: 1 })
  })
})

describe('one playback is one view', () => {
  test('at a signed address to be shown, and where other sites embed it', async () => {
    for (const addressOf of [
      (file: Uploaded) => signedAddress(host, file, 'view'),
      async (file: Uploaded) => `/d/${file.slug}?view=1`,
    ]) {
      const file = await put()
      await read(await addressOf(file), PLAYBACK)
      expect(await counts(file)).toEqual({ views: 1, downloads: 0 })
    }
  })

  test('on its page, which has counted it', async () => {
    const file = await put()
    const html = await (await visit(host, `/d/${file.slug}`)).text()
    const [, address = ''] = /<video[^>]* src="([^"]+)"/.exec(html) ?? []
    await read(address.replaceAll('&amp;', '&'), PLAYBACK)
    expect(await counts(file)).toEqual({ views: 1, downloads: 0 })
  })
})
