// Only in test:all: minutes of a clock, and slow lines.
import { describe, expect, test } from 'bun:test'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { chance } from '../support/chance.ts'
import { caller, signedAddress } from '../support/clients/caller.ts'
import { eventually } from '../support/eventually.ts'
import { openUpload } from '../support/network/raw-upload.ts'
import { addAccount, startChild, temporaryFolder } from '../support/processes/child.ts'
import { openBlobs, openFiles } from '../support/processes/open-files.ts'
import { startHoldfast } from '../support/servers/holdfast.ts'
import { finishedBlobs, unfinishedBlobs } from '../support/storage/blob-folder.ts'

const KIB = 1024
const MIB = 1024 * KIB

describe('an upload slower than 1 KiB/s for 60 s', () => {
  test.each([
    ['with a declared length', 700 * KIB],
    ['without a length', null],
  ])('is ended and leaves nothing, %s', async (_, size) => {
    await using stack = new AsyncDisposableStack()
    const holdfast = stack.adopt(await startHoldfast({ storageLimit: 1 * MIB }), (server) => server.stop())
    const { apiKey: key } = await holdfast.addAccount()
    const upload = await openUpload(holdfast.url, { key, size })
    const ended = upload.answer.then(
      ({ body }): unknown => JSON.parse(body),
      () => ({ error: 'the connection was closed' }),
    )
    await upload.send(chance(1).bytes(20 * KIB))
    await eventually('the upload has begun', () => unfinishedBlobs(holdfast.dataDir).length === 1)

    let isOver = false
    ended.then(() => (isOver = true))
    // Only time in which the server waits for the sender counts, and it may still be at the first bytes.
    await eventually('it is ended', () => {
      holdfast.clock.advance(5_000)
      return isOver
    })
    expect(await ended).toMatchObject({ error: expect.stringMatching(/^REQUEST_TIMEOUT$|was closed$/) })
    await eventually('its bytes are gone', () => unfinishedBlobs(holdfast.dataDir).length === 0)
    expect(finishedBlobs(holdfast.dataDir)).toEqual([])
    const account = caller(holdfast.url, key)
    expect(await account.account()).toMatchObject({ storage_used: 0, files_count: 0 })
    // The room it had reserved is free again, all of it.
    await account.upload(chance(2).bytes(1 * MIB), 'fits.bin')
  })

  test('is ended although some bytes come every twenty seconds', async () => {
    await using stack = new AsyncDisposableStack()
    const holdfast = stack.adopt(await startHoldfast(), (server) => server.stop())
    const { apiKey: key } = await holdfast.addAccount()
    const upload = await openUpload(holdfast.url, { key, size: 700 * KIB })
    const ended = upload.answer.then(
      () => true,
      () => true,
    )
    for (let part = 0; part < 4; part++) {
      // One that has ended takes nothing more.
      await upload.send(chance(5).bytes(KIB)).catch(() => {})
      await Bun.sleep(300)
      holdfast.clock.advance(20_000)
      await Bun.sleep(300)
    }
    expect(await Promise.race([ended, Bun.sleep(3000)])).toBe(true)
  })

  test('is let be as long as every minute brings 60 KiB', async () => {
    await using stack = new AsyncDisposableStack()
    const holdfast = stack.adopt(await startHoldfast(), (server) => server.stop())
    const { apiKey: key } = await holdfast.addAccount()
    const piece = chance(3).bytes(90 * KIB)
    const minutes = 4
    const upload = await openUpload(holdfast.url, { key, size: minutes * piece.length })
    for (let minute = 0; minute < minutes; minute++) {
      await upload.send(piece)
      // Time for the server to read the piece, and to look at its clock more than once.
      await Bun.sleep(300)
      for (let part = 0; part < 5; part++) {
        holdfast.clock.advance(10_000)
        await Bun.sleep(300)
      }
    }
    expect(await upload.finish()).toMatchObject({ status: 200 })
  })
})

describe('a client that closes its connection', () => {
  test('frees the file that it was downloading', async () => {
    using folder = temporaryFolder()
    const dataDir = join(folder.path, 'data')
    const { apiKey } = await addAccount(dataDir, 'reads')
    await using server = await startChild(dataDir)
    const { slug } = await caller(server.url, apiKey).upload(chance(4).bytes(32 * MIB), 'big.bin')
    await eventually('the upload has closed its file', () => openBlobs(server.pid, dataDir) === 0)

    const address = await signedAddress(server.url, slug)
    const before = openFiles(server.pid).length
    const clients = await Promise.all(Array.from({ length: 8 }, () => beginDownload(address)))
    await eventually('the downloads hold the file open', () => openBlobs(server.pid, dataDir) > 0)
    for (const client of clients) client.destroy()
    await eventually('no download holds the file open', () => openBlobs(server.pid, dataDir) === 0)
    await eventually('nothing else of them is open', () => openFiles(server.pid).length <= before)
  })

  test('leaves nothing of the upload that it was sending', async () => {
    using folder = temporaryFolder()
    const dataDir = join(folder.path, 'data')
    const { apiKey: key } = await addAccount(dataDir, 'sends')
    await using server = await startChild(dataDir)
    const uploads = await Promise.all(
      [null, 1 * MIB, null, 1 * MIB].map(async (size) => {
        const upload = await openUpload(server.url, { key, size })
        await upload.send(chance(5).bytes(200 * KIB))
        return upload
      }),
    )
    await eventually('the uploads have begun', () => unfinishedBlobs(dataDir).length === uploads.length)
    for (const upload of uploads) upload.abort()
    await eventually('their bytes are gone', () => unfinishedBlobs(dataDir).length === 0)
    await eventually('their files are closed', () => openBlobs(server.pid, dataDir) === 0)
    expect(finishedBlobs(dataDir)).toEqual([])
    expect(await caller(server.url, key).account()).toMatchObject({ storage_used: 0, files_count: 0 })
  })
})

/** Sends the request, reads the beginning of the answer and then nothing more. */
function beginDownload(address: string): Promise<Socket> {
  const { hostname, port, pathname, search } = new URL(address)
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname)
    socket.once('error', reject)
    socket.once('data', () => {
      socket.pause()
      resolve(socket)
    })
    socket.write(`GET ${pathname}${search} HTTP/1.1\r\nHost: ${hostname}:${port}\r\n\r\n`)
  })
}
