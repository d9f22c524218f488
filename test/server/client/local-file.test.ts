import { expect, test } from 'bun:test'
import { truncateSync, writeFileSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { createServer, type Socket } from 'node:net'
import { basename, join } from 'node:path'
import { FileChanged, type FoundFile, openLocalFile } from '../../../src/client/local-file.ts'
import { randomBytes } from '../../support/clients/public.ts'
import { temporaryFolder } from '../../support/processes/child.ts'

const MIB = 1024 * 1024
const bytes = randomBytes(5 * MIB + 7)
const sha256 = new Bun.CryptoHasher('sha256').update(bytes).digest('hex')

async function found(folder: string, content: Uint8Array = bytes): Promise<FoundFile> {
  const path = join(folder, 'film.bin')
  writeFileSync(path, content)
  const { size, mtimeMs, dev, ino } = await stat(path)
  return { shown: 'film.bin', path, name: basename(path), size, changedAt: mtimeMs, inode: `${dev}:${ino}` }
}

async function read(stream: ReadableStream<Uint8Array>): Promise<Buffer> {
  const copies: Buffer[] = []
  for await (const piece of stream) copies.push(Buffer.from(piece))
  return Buffer.concat(copies)
}

test('a file is read in ranges, and again where it has to be, and hashed once as a whole', async () => {
  using folder = temporaryFolder()
  const opened = await openLocalFile(await found(folder.path))
  const passed: number[] = []
  expect(await read(opened.stream(0, 3 * MIB + 1, (length) => passed.push(length)))).toEqual(
    Buffer.from(bytes.subarray(0, 3 * MIB + 1)),
  )
  expect(passed).toEqual([MIB, MIB, MIB, 1])
  expect(await read(opened.stream(2 * MIB, bytes.length))).toEqual(Buffer.from(bytes.subarray(2 * MIB)))
  expect(await opened.sha256()).toBe(sha256)
  await opened.close()
})

test('what was sent in an earlier run is hashed before what is sent now', async () => {
  using folder = temporaryFolder()
  const opened = await openLocalFile(await found(folder.path))
  expect(await read(opened.stream(4 * MIB, bytes.length))).toEqual(Buffer.from(bytes.subarray(4 * MIB)))
  expect(await opened.sha256()).toBe(sha256)
  await opened.close()
})

test('a range that the system sends is hashed apart, whatever is read beside it', async () => {
  using folder = temporaryFolder()
  const opened = await openLocalFile(await found(folder.path))
  const range = opened.range(MIB, 3 * MIB + 5)
  const [sent] = await Promise.all([range.bytes(), opened.hashUpTo(3 * MIB + 5), opened.hashUpTo(2 * MIB)])
  expect(Buffer.from(sent)).toEqual(Buffer.from(bytes.subarray(MIB, 3 * MIB + 5)))
  expect(await read(opened.stream(2 * MIB, bytes.length))).toEqual(Buffer.from(bytes.subarray(2 * MIB)))
  expect(await opened.sha256()).toBe(sha256)
  await opened.close()
})

test('a reader that leaves in the middle harms neither the next one nor the end', async () => {
  using folder = temporaryFolder()
  const opened = await openLocalFile(await found(folder.path))
  const reader = opened.stream(0, bytes.length).getReader()
  await reader.read()
  await reader.cancel()
  expect(await read(opened.stream(MIB, bytes.length))).toEqual(Buffer.from(bytes.subarray(MIB)))
  expect(await opened.sha256()).toBe(sha256)
  const last = opened.stream(0, bytes.length).getReader()
  await last.read()
  await last.cancel()
  await opened.close()
})

test('a file that has become shorter is told of after what could be read', async () => {
  using folder = temporaryFolder()
  const file = await found(folder.path)
  const opened = await openLocalFile(file)
  truncateSync(file.path, 2 * MIB + 5)
  const passed: number[] = []
  const stream = opened.stream(0, bytes.length, (length) => passed.push(length))
  await expect(read(stream)).rejects.toBeInstanceOf(FileChanged)
  expect(passed).toEqual([MIB, MIB, 5])
  await opened.close()
})

/** Takes what is sent, now and then nothing for a moment, and answers with what it was. */
async function haltingReceiver(length: number): Promise<{ readonly url: string } & AsyncDisposable> {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    const hash = new Bun.CryptoHasher('sha256')
    let missing = length
    let head = Buffer.alloc(0)
    let isBody = false
    socket.on('data', (chunk: Buffer) => {
      let body = chunk
      if (!isBody) {
        head = Buffer.concat([head, chunk])
        const end = head.indexOf('\r\n\r\n')
        if (end < 0) return
        isBody = true
        body = head.subarray(end + 4)
      }
      hash.update(body)
      missing -= body.length
      if (missing === 0) {
        const digest = hash.digest('hex')
        socket.end(
          `HTTP/1.1 200 OK\r\nContent-Length: ${digest.length}\r\nConnection: close\r\n\r\n${digest}`,
        )
      } else {
        socket.pause()
        setTimeout(() => socket.resume(), Math.random() * 5)
      }
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('it listens on a port')
  return {
    url: `http://127.0.0.1:${address.port}`,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

test('whoever takes it slowly gets every byte as it was read', async () => {
  using folder = temporaryFolder()
  const content = randomBytes(32 * MIB + 5)
  await using receiver = await haltingReceiver(content.length)
  const opened = await openLocalFile(await found(folder.path, content))
  const response = await fetch(receiver.url, {
    method: 'PATCH',
    headers: { 'Content-Length': String(content.length) },
    body: opened.stream(0, content.length),
  })
  expect(await response.text()).toBe(new Bun.CryptoHasher('sha256').update(content).digest('hex'))
  expect(await opened.sha256()).toBe(new Bun.CryptoHasher('sha256').update(content).digest('hex'))
  await opened.close()
})
