import { expect, test } from 'bun:test'
import { truncateSync, writeFileSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { FileChanged, type FoundFile, openFile } from '../../src/client/local-file.ts'
import { temporaryFolder } from '../support/child.ts'
import { randomBytes } from '../support/public.ts'

const MIB = 1024 * 1024
const bytes = randomBytes(5 * MIB + 7)
const sha256 = new Bun.CryptoHasher('sha256').update(bytes).digest('hex')

async function found(folder: string): Promise<FoundFile> {
  const path = join(folder, 'film.bin')
  writeFileSync(path, bytes)
  const { size, mtimeMs } = await stat(path)
  return { shown: 'film.bin', path, name: basename(path), size, changedAt: mtimeMs }
}

const read = async (stream: ReadableStream<Uint8Array>) => Buffer.from(await new Response(stream).bytes())

test('a file is read in ranges, and again where it has to be, and hashed once as a whole', async () => {
  using folder = temporaryFolder()
  const opened = await openFile(await found(folder.path))
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
  const opened = await openFile(await found(folder.path))
  expect(await read(opened.stream(4 * MIB, bytes.length))).toEqual(Buffer.from(bytes.subarray(4 * MIB)))
  expect(await opened.sha256()).toBe(sha256)
  await opened.close()
})

test('a reader that leaves in the middle harms neither the next one nor the end', async () => {
  using folder = temporaryFolder()
  const opened = await openFile(await found(folder.path))
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
  const opened = await openFile(file)
  truncateSync(file.path, 2 * MIB + 5)
  const passed: number[] = []
  const stream = opened.stream(0, bytes.length, (length) => passed.push(length))
  await expect(read(stream)).rejects.toBeInstanceOf(FileChanged)
  expect(passed).toEqual([MIB, MIB, 5])
  await opened.close()
})
