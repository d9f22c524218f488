/** A proxy like a long line: each connection has a round trip and a rate of its own, and bytes keep their order. */
import { connect, createServer, type Socket } from 'node:net'

export interface LongLineOptions {
  /** Milliseconds of a round trip. */
  readonly roundTrip: number
  /** Bytes a second of one connection, in each direction. */
  readonly rate: number
}

export interface LongLine {
  readonly url: string
  /** The most connections that carried bytes to the server at once so far: of these, 64 KiB at least. */
  widest(): number
  /** Cuts all connections of now. */
  cut(): void
  stop(): Promise<void>
}

/** Bytes after which a connection counts as one that carries a body. */
const BODY = 64 * 1024

export async function startLongLine(server: string, options: LongLineOptions): Promise<LongLine> {
  const { hostname, port } = new URL(server)
  const open = new Set<Socket>()
  const loaded = new Set<Socket>()
  let widest = 0

  function keep(socket: Socket): Socket {
    open.add(socket)
    socket.on('error', () => {})
    socket.on('close', () => open.delete(socket))
    return socket
  }

  const listener = createServer((client) => {
    keep(client)
    const onward = keep(connect(Number(port), hostname))
    client.on('close', () => loaded.delete(client))
    let sent = 0
    carry(client, onward, options, (bytes) => {
      sent += bytes
      if (sent >= BODY) loaded.add(client)
      widest = Math.max(widest, loaded.size)
    })
    carry(onward, client, options, () => {})
  })
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve))
  const address = listener.address()
  if (address === null || typeof address === 'string') throw new Error('the line listens nowhere')
  const cut = () => {
    for (const socket of open) socket.destroy()
  }
  return {
    url: `http://127.0.0.1:${address.port}`,
    widest: () => widest,
    cut,
    async stop() {
      cut()
      await new Promise<void>((resolve) => listener.close(() => resolve()))
    },
  }
}

interface Due {
  readonly at: number
  readonly what: Buffer | 'end' | 'close'
}

/** So small that a rate is even. */
const PIECE = 16 * 1024

/**
 * Forwards one direction through one queue, which one loop empties: two timers that are due together may fire in either
 * order, so a timer for each piece would mix the bytes.
 */
function carry(
  from: Socket,
  to: Socket,
  { roundTrip, rate }: LongLineOptions,
  passed: (bytes: number) => void,
): void {
  const queue: Due[] = []
  const perMillisecond = rate / 1000
  /** What is under way on such a line, and a buffer before it. */
  const most = perMillisecond * roundTrip + 8 * PIECE
  // The connection has to be made first.
  let free = performance.now() + roundTrip
  let waiting = 0
  let isRunning = false

  // An end takes the line too: what was sent before it is still under way.
  function add(what: Due['what']): void {
    const bytes = typeof what === 'string' ? 0 : what.length
    free = Math.max(free, performance.now()) + bytes / perMillisecond
    queue.push({ at: free + roundTrip / 2, what })
    run()
  }

  async function empty(): Promise<void> {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      const wait = next.at - performance.now()
      if (wait > 0) await Bun.sleep(wait)
      if (to.destroyed) return
      if (next.what === 'end') to.end()
      if (next.what === 'close') to.destroySoon()
      if (typeof next.what === 'string') continue
      if (!to.write(next.what)) await drained(to)
      passed(next.what.length)
      waiting -= next.what.length
      if (waiting < most && from.isPaused()) from.resume()
    }
  }

  function run(): void {
    if (isRunning) return
    isRunning = true
    empty().finally(() => {
      isRunning = false
    })
  }

  from.on('data', (read: Buffer) => {
    for (let at = 0; at < read.length; at += PIECE) add(Buffer.from(read.subarray(at, at + PIECE)))
    waiting += read.length
    if (waiting >= most) from.pause()
  })
  from.on('end', () => add('end'))
  from.on('close', () => add('close'))
}

/** Resolves when the socket takes more, or never will. */
function drained(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      socket.off('drain', done)
      socket.off('close', done)
      resolve()
    }
    socket.on('drain', done)
    socket.on('close', done)
  })
}
