/** The long line of tests and benchmarks delivers what it was given. */
import { expect, test } from 'bun:test'
import { connect, createServer } from 'node:net'
import { chance } from '../../support/chance.ts'
import { sha256 } from '../../support/clients/caller.ts'
import { startLongLine } from '../../support/network/long-line.ts'

test('bytes come out of a long line as they went in, both ways, over several connections', async () => {
  const echo = createServer({ allowHalfOpen: true }, (socket) => socket.pipe(socket))
  await new Promise<void>((resolve) => echo.listen(0, '127.0.0.1', resolve))
  const address = echo.address()
  if (address === null || typeof address === 'string') throw new Error('the echo listens nowhere')
  const line = await startLongLine(`http://127.0.0.1:${address.port}`, { roundTrip: 30, rate: 8_000_000 })
  const random = chance(5)
  try {
    const bodies = [1_500_000, 1_000_001, 70_000, 1].map((size) => random.bytes(size))
    const echoed = await Promise.all(bodies.map((body) => throughEcho(line.url, body)))
    expect(echoed.map(sha256)).toEqual(bodies.map(sha256))
    expect(line.widest()).toBe(3)
  } finally {
    await line.stop()
    echo.close()
  }
})

test('what a server sends before it closes arrives', async () => {
  const content = chance(6).bytes(300_000)
  const server = createServer((socket) => socket.once('data', () => socket.end(content)))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the server listens nowhere')
  const line = await startLongLine(`http://127.0.0.1:${address.port}`, { roundTrip: 40, rate: 8_000_000 })
  try {
    expect(sha256(await throughEcho(line.url, new Uint8Array(1), content.length))).toBe(sha256(content))
  } finally {
    await line.stop()
    server.close()
  }
})

function throughEcho(url: string, body: Uint8Array, expected = body.length): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const pieces: Buffer[] = []
    let got = 0
    const socket = connect(Number(new URL(url).port), '127.0.0.1', () => socket.write(body))
    socket.on('data', (piece: Buffer) => {
      pieces.push(Buffer.from(piece))
      got += piece.length
      if (got >= expected) socket.end()
    })
    socket.on('close', () => resolve(Buffer.concat(pieces)))
    socket.on('error', reject)
  })
}
