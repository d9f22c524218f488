/**
 * A proxy that delays, throttles, stalls and cuts connections at random. The faults of a connection depend
 * only on the seed and its number, so that a run is reproducible.
 */
import { connect, createServer, type Socket } from 'node:net'
import { type Chance, chance } from '../chance.ts'

export interface BadLineOptions {
  readonly seed: number
  /** Number of connections that are cut; later ones are only slow. */
  readonly cuts: number
  /** Bytes after which a connection is cut at the latest. */
  readonly most: number
  /** What is sent over it: to the server, which is what it is without this, or back. */
  readonly of?: 'uploads' | 'downloads'
}

export interface BadLine {
  readonly url: string
  /** Number of connections cut so far. */
  cuts(): number
  /** Address of the server that the latest connection uses. */
  latest(): string
  stop(): Promise<void>
}

/** Faults of one connection. */
interface Fate {
  /** Bytes after which it is cut: to the server or back, whichever is reached first. */
  readonly cut: { readonly up: number; readonly down: number }
  /** Whether the server's connection is closed too, or stays open without further data. */
  readonly isNoticed: boolean
  /** One stall of so many milliseconds, after so many bytes to the server. */
  readonly stall: { readonly after: number; readonly milliseconds: number }
  /** Latency in milliseconds. */
  readonly delay: number
  /** Throughput in bytes per millisecond. */
  readonly rate: number
}

/** Milliseconds after which a server's open connection is closed after an unnoticed cut. */
const UNNOTICED = 5000
const LONGEST_STALL = 1500
const LONGEST_DELAY = 20

/** Each connection goes to a random server. */
export async function startBadLine(servers: readonly string[], options: BadLineOptions): Promise<BadLine> {
  const open = new Set<Socket>()
  let latest = ''
  let accepted = 0
  let cuts = 0

  function keep(socket: Socket): Socket {
    open.add(socket)
    socket.on('error', () => {})
    socket.on('close', () => open.delete(socket))
    return socket
  }

  function join(client: Socket): void {
    accepted += 1
    const random = chance(options.seed * 10_007 + accepted)
    latest = random.pick(servers)
    const fate = turned(fateOf(random, options.most), options.of ?? 'uploads')
    const { hostname, port } = new URL(latest)
    const server = keep(connect(Number(port), hostname))
    let isCut = false
    /** Cuts the connection; false when the number of cuts is reached. */
    const cut = () => {
      if (isCut || cuts === options.cuts) return isCut
      isCut = true
      cuts += 1
      client.destroy()
      if (fate.isNoticed) server.destroy()
      else setTimeout(() => server.destroy(), UNNOTICED).unref()
      return true
    }
    client.on('close', () => isCut || server.destroy())
    server.on('close', () => client.destroy())
    carry(client, server, { ...fate, cutAfter: fate.cut.up, cut })
    carry(server, client, { ...fate, cutAfter: fate.cut.down, cut, stall: null })
  }

  const listener = createServer((client) => join(keep(client)))
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve))
  const address = listener.address()
  if (address === null || typeof address === 'string') throw new Error('the line listens nowhere')
  return {
    url: `http://127.0.0.1:${address.port}`,
    cuts: () => cuts,
    latest: () => latest,
    async stop() {
      for (const socket of open) socket.destroy()
      await new Promise<void>((resolve) => listener.close(() => resolve()))
    },
  }
}

function fateOf(random: Chance, most: number): Fate {
  // One in ten is cut in a request's head, one in five in a response, the others in the body.
  const end = random.fraction()
  return {
    cut: {
      up: end < 0.1 ? random.whole(1, 400) : random.whole(1, most),
      down: end > 0.8 ? random.whole(1, 200) : Infinity,
    },
    isNoticed: random.fraction() < 0.85,
    stall: {
      after: random.whole(0, most),
      milliseconds: random.fraction() < 0.1 ? random.whole(0, LONGEST_STALL) : 0,
    },
    delay: random.fraction() < 0.3 ? random.whole(1, LONGEST_DELAY) : 0,
    rate: random.fraction() < 0.2 ? random.whole(most / 500, most / 100) : Infinity,
  }
}

/** A request has a head that is cut in, an answer a body. */
function turned(fate: Fate, of: NonNullable<BadLineOptions['of']>): Fate {
  return of === 'uploads' ? fate : { ...fate, cut: { up: Infinity, down: fate.cut.up } }
}

interface Carrying extends Pick<Fate, 'delay' | 'rate'> {
  readonly stall: Fate['stall'] | null
  readonly cutAfter: number
  /** Called when the cut is due; when it returns false, the connection goes on. */
  readonly cut: () => boolean
}

/** Forwards data in one direction, with the connection's faults. */
function carry(from: Socket, to: Socket, { delay, rate, stall, cutAfter, cut }: Carrying): void {
  let passed = 0

  async function pass(piece: Buffer): Promise<void> {
    const reached = passed + piece.length
    const stalls = stall !== null && passed <= stall.after && stall.after < reached
    const wait = delay + piece.length / rate + (stalls ? stall.milliseconds : 0)
    if (wait > 0) await Bun.sleep(wait)
    if (passed < cutAfter && cutAfter <= reached) {
      await write(to, piece.subarray(0, cutAfter - passed))
      if (!cut()) await write(to, piece.subarray(cutAfter - passed))
    } else await write(to, piece)
    passed = reached
  }

  from.on('data', (piece: Buffer) => {
    from.pause()
    pass(piece).then(
      () => from.resume(),
      () => from.destroy(),
    )
  })
  from.on('end', () => to.end())
}

/** Resolves when the system has accepted the bytes. Rejects when the connection is closed. */
function write(to: Socket, bytes: Buffer): Promise<void> {
  return new Promise((resolve, reject) => {
    const lost = () => reject(new Error('the connection is gone'))
    if (to.destroyed) return lost()
    to.once('close', lost)
    to.write(bytes, () => {
      to.off('close', lost)
      resolve()
    })
  })
}
