/** Pictures that mean harm, sent to a server of its own process: they cost their thumbnail and nothing else. */
// Only in test:all: generated: every hostile picture.
import { expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { processFigures, resetPeak } from '../long/process-figures.ts'
import { type Bytes, textBytes, upload, visit } from '../support/clients/public.ts'
import { decided, expectIcon } from '../support/clients/thumbnails.ts'
import { blackPng, framesGif, picture, SVG } from '../support/contents/pictures.ts'
import { eventually } from '../support/eventually.ts'
import { addAccount, type ChildServer, startChild, temporaryFolder } from '../support/processes/child.ts'
import { imageWorkers } from '../support/processes/image-workers.ts'

const MIB = 1024 * 1024
const MOST_GROWTH = 64 * MIB

interface Scene extends AsyncDisposable {
  readonly dataDir: string
  readonly server: ChildServer
  readonly key: string
}

async function scene(): Promise<Scene> {
  await using stack = new AsyncDisposableStack()
  const dataDir = join(stack.use(temporaryFolder()).path, 'data')
  const server = stack.use(await startChild(dataDir, { MIN_FREE_SPACE: '1MB', RATE_LIMIT: '1000000' }))
  const { apiKey: key } = await addAccount(dataDir, 'owner')
  const made = stack.move()
  return { dataDir, server, key, [Symbol.asyncDispose]: () => made.disposeAsync() }
}

test('hostile pictures are stored, get the icon of their type, and touch neither memory nor other requests', async () => {
  await using it = await scene()
  const { server, key } = it
  const put = (name: string, bytes: Bytes) => upload(server, { key, name, bytes })
  const good = await picture('png', 500, 500)
  expect(await decided(server, key, await put('good.png', good))).toBe('ready')
  const hostile: [string, Bytes][] = [
    // Its bytes would be 441 MB when they are unpacked.
    ['large.png', await blackPng(21_000, 21_000)],
    ['long.png', await blackPng(1_000, 410_000)],
    ['cut.png', (await blackPng(7_000, 7_000)).slice(0, 20_000)],
    ['mixed.jpg', new Uint8Array(Buffer.concat([textBytes('\x89PNG'), await picture('jpeg', 100, 100)]))],
    ['drawing.png', textBytes(SVG)],
    ['claims.gif', new Uint8Array(Buffer.from('474946383961ffffffff8000000000000000ff3b', 'hex'))],
  ]

  resetPeak(server.pid)
  const before = processFigures(server.pid)
  const sent = await Promise.all(hostile.map(([name, bytes]) => put(name, bytes)))
  const many = await put('many.gif', framesGif(10_000))
  const others: number[] = []
  const isOver = Promise.all([...sent, many].map((file) => decided(server, key, file)))
  let isWaiting = true
  isOver.finally(() => {
    isWaiting = false
  })
  while (isWaiting) {
    others.push((await visit(server, '/health')).status)
    others.push(await upload(server, { key }).then(() => 200))
  }
  await isOver
  expect(new Set(others)).toEqual(new Set([200]))
  for (const file of sent) await expectIcon(server, key, file)
  expect(await decided(server, key, many)).toBe('ready')
  const after = processFigures(server.pid)
  expect(after.peak - before.resident).toBeLessThan(MOST_GROWTH)
  // And there is nobody who could not make the next one.
  const next = await put('next.png', await picture('png', 501, 500))
  expect(await decided(server, key, next)).toBe('ready')
  await server.stop()
})

test('a server that is killed while it makes a thumbnail makes it after its start, and leaves no process behind', async () => {
  await using it = await scene()
  const large = await blackPng(7000, 7000)
  const file = await upload(it.server, { key: it.key, name: 'large.png', bytes: large })
  let worker: number | undefined
  await eventually('it has begun', async () => {
    ;[worker] = await imageWorkers(it.server.pid)
    return worker !== undefined
  })
  await it.server.kill()
  await eventually('its process is gone', () => !existsSync(`/proc/${worker}`))
  await using again = await startChild(it.dataDir, { MIN_FREE_SPACE: '1MB', RATE_LIMIT: '1000000' })
  expect(await decided(again, it.key, file)).toBe('ready')
  await again.stop()
})
