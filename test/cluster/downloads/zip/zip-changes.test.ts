/** What changes, or who leaves, while a zip is being sent. */
// A process of its own: looks at the memory of the process.
import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { DAY, MINUTE } from '../../../../src/domain/clock.ts'
import {
  api,
  changeFolder,
  deleteFile,
  makeFolder,
  randomBytes,
  type Uploaded,
  upload,
  visit,
} from '../../../support/clients/public.ts'
import { eventually } from '../../../support/eventually.ts'
import { slowReader } from '../../../support/network/slow-reader.ts'
import { openBlobs } from '../../../support/processes/open-files.ts'
import { atNode, onCluster } from '../../../support/servers/holdfast.ts'
import { ownedHost } from '../../../support/servers/owned-host.ts'

const MIB = 1024 * 1024
/** More than the sockets of both ends take together. */
const LARGE = 32 * MIB

const { host, key } = await ownedHost()

interface Scene {
  readonly folder: string
  readonly large: Uploaded
  readonly small: Uploaded
  /** At a node, because a balancer would read ahead of its client. */
  readonly address: string
}

/** A large file, and behind it a small one. */
async function withScene(work: (scene: Scene) => Promise<void>): Promise<void> {
  const folder = await makeFolder(host, key)
  const large = await upload(host, { key, folder, name: '1.bin', bytes: randomBytes(LARGE) })
  const small = await upload(host, { key, folder, name: '2.bin', bytes: randomBytes(MIB) })
  await work({ folder, large, small, address: `${atNode(host).url}/f/${folder}?download=zip` })
}

/** Lets the jobs run until the bytes of what was deleted have gone from the store. */
async function untilStored(blobs: number): Promise<void> {
  await eventually('the bytes are gone', async () => {
    host.clock.advance(2 * MINUTE)
    await host.runJobs()
    return (await host.storedBlobs()).length === blobs
  })
}

test('renaming, moving and hiding what is in it changes nothing in a zip that is being sent', () =>
  withScene(async ({ folder, large, small, address }) => {
    const whole = await (await visit(host, address)).bytes()
    const reader = await slowReader(address)
    await reader.readUpTo(MIB)
    await api(host, key, 'PATCH', `/api/v1/file/${large.slug}`, { name: 'a longer name.bin' })
    await api(host, key, 'POST', '/api/v1/file/move', { file: small.slug, folder: 'root' })
    await changeFolder(host, key, folder, { public: 0 })
    const { body, isWhole } = await reader.readOn()
    expect(isWhole).toBe(true)
    expect(body.equals(whole)).toBe(true)
  }))

test('a file that is deleted while a zip is being sent breaks the zip off once its bytes have gone', () =>
  withScene(async ({ small, address }) => {
    const reader = await slowReader(address)
    await reader.readUpTo(MIB)
    const stored = (await host.storedBlobs()).length
    await deleteFile(host, key, small.slug)
    await untilStored(stored - 1)
    const { body, isWhole } = await reader.readOn()
    expect(isWhole).toBe(false)
    expect(body.length).toBeLessThan(LARGE + MIB)
    expect(body.length).toBeGreaterThan(MIB)
  }))

test('content that is uploaded again while a zip is being sent is read from where it lies now', () =>
  withScene(async ({ address }) => {
    const content = randomBytes(700_000)
    const folder = await makeFolder(host, key)
    await upload(host, { key, folder, name: '1.bin', bytes: randomBytes(LARGE) })
    await upload(host, { key, folder, name: '2.bin', bytes: content })
    const path = `${new URL(address).origin}/f/${folder}?download=zip`
    const stored = (await host.storedBlobs()).length
    const reader = await slowReader(path)
    await reader.readUpTo(MIB)
    await upload(host, { key, name: 'again.bin', bytes: content })
    expect((await host.storedBlobs()).length).toBe(stored + 1)
    await untilStored(stored)
    const { body, isWhole } = await reader.readOn()
    expect(isWhole).toBe(true)
    expect(body.includes(content)).toBe(true)
  }))

test('a reader that stands still for a day of the clock gets the rest when it goes on', () =>
  withScene(async ({ address }) => {
    const whole = await (await visit(host, address)).bytes()
    const reader = await slowReader(address)
    await reader.readUpTo(MIB)
    host.clock.advance(DAY)
    await host.runJobs()
    await Bun.sleep(1000)
    const { body, isWhole } = await reader.readOn()
    expect(isWhole).toBe(true)
    expect(body.equals(whole)).toBe(true)
  }))

test('readers that leave in the middle are not read for any more', () =>
  withScene(async ({ address }) => {
    const readers = await Promise.all(Array.from({ length: 20 }, () => slowReader(address)))
    await Promise.all(readers.map((reader) => reader.readUpTo(MIB)))
    for (const reader of readers) reader.leave()
    const answer = await visit(host, address, { method: 'HEAD' })
    expect(answer.status).toBe(200)
    if (onCluster) return
    const blobs = join(host.dataDir)
    await eventually('no file is open', () => openBlobs(process.pid, blobs) === 0)
  }))
