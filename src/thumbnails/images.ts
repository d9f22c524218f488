import { fileURLToPath } from 'node:url'
import { SECOND } from '../domain/clock.ts'
import { ByteReader } from './byte-reader.ts'
import { Guard, type Limits, usageOf } from './guard.ts'
import { MakerUnavailable, type Making, MakingFailed, MOST_BYTES, type Source } from './maker.ts'
import { ANSWER_HEADER, READY, readAnswerHeader, requestHeader } from './messages.ts'
import type { Spawned, Spawner } from './spawning.ts'

/** A picture larger than this has more bytes than its 50 million pixels account for. */
const LARGEST = 256 * 1024 * 1024
/** What is read from the store and handed on at a time. */
const PIECE = 4 * 1024 * 1024
/** Milliseconds without work after which the process is ended. */
const IDLE = 5 * SECOND
/** A process that has grown to this does not give it back by itself. */
const GROWN = 256 * 1024 * 1024

const WORKER = fileURLToPath(new URL('./image-worker.ts', import.meta.url))

/** Pictures, made small by a process of their own, which is kept for the next one for a while. */
export interface Images {
  /** As `ThumbnailMaker.make`. */
  make(source: Source, signal: AbortSignal): Promise<Making>
  close(): void
}

interface Worker {
  readonly child: Spawned
  readonly stdin: Bun.FileSink
  readonly answers: ByteReader
}

export function createImages(spawner: Spawner, limits: Limits): Images {
  let kept: Worker | null = null
  let idle: Timer | undefined

  async function start(signal: AbortSignal): Promise<Worker> {
    // What an .env file says is not for it; without the server it has nothing to live for.
    const flags = ['--smol', '--no-env-file', '--no-install', '--no-orphans']
    // One heap for all threads: each of its own would keep what a picture has taken.
    const child = spawner.spawn([process.execPath, ...flags, WORKER], 'pipe', { MALLOC_ARENA_MAX: '2' })
    const { stdin, stdout } = child
    if (stdin === undefined || typeof stdin === 'number') throw new Error('a pipe was asked for')
    const answers = new ByteReader(stdout)
    const guard = new Guard(child, { ...limits, work: limits.step }, signal)
    try {
      if ((await guard.step(answers.take(READY.byteLength))) !== null) return { child, stdin, answers }
      signal.throwIfAborted()
      throw new MakerUnavailable('the process that makes thumbnails does not start')
    } finally {
      guard.end()
    }
  }

  /** One that has ended since its last picture did so by itself, whatever that picture has done to it. */
  function present(): Worker | null {
    if (kept !== null && (kept.child.exitCode !== null || kept.child.signalCode !== null)) kept = null
    return kept
  }

  function end(worker: Worker): void {
    worker.child.kill('SIGKILL')
    if (kept === worker) kept = null
  }

  return {
    async make(source, signal) {
      if (source.size > LARGEST) return { kind: 'none', reason: `it has more than ${LARGEST} bytes` }
      signal.throwIfAborted()
      clearTimeout(idle)
      const worker = present() ?? (await start(signal))
      kept = worker
      const guard = new Guard(worker.child, limits, signal)
      try {
        await send(worker, source, guard)
        const making = await guard.step(receive(worker, guard))
        if (usageOf(worker.child.pid).memory > GROWN) end(worker)
        return making
      } catch (error) {
        end(worker)
        throw error
      } finally {
        guard.end()
        if (kept !== null) idle = setTimeout(() => end(worker), IDLE).unref()
      }
    },

    close() {
      clearTimeout(idle)
      if (kept !== null) end(kept)
    },
  }
}

async function send({ stdin }: Worker, { size, readInto }: Source, guard: Guard): Promise<void> {
  // Whoever reads no more has ended, and that shows where the answer is awaited.
  const hand = async (bytes: Uint8Array) => {
    stdin.write(bytes)
    await guard.step(Promise.resolve(stdin.flush()))
  }
  await hand(requestHeader(size)).catch(() => Promise.reject(guard.failure()))
  const piece = new Uint8Array(Math.min(size, PIECE))
  for (let at = 0; at < size; at += piece.byteLength) {
    const part = piece.subarray(0, size - at)
    await readInto(at, part)
    await hand(part).catch(() => Promise.reject(guard.failure()))
  }
}

async function receive({ answers }: Worker, guard: Guard): Promise<Making> {
  const take = async (length: number) => {
    if (length > MOST_BYTES) throw new MakingFailed('its process answers more than there can be')
    const bytes = await answers.take(length)
    if (bytes === null) throw guard.failure()
    return bytes
  }
  const { kind, lengths } = readAnswerHeader(await take(ANSWER_HEADER))
  const small = await take(lengths[0])
  const large = lengths[1] > 0 ? await take(lengths[1]) : null
  const screen = lengths[2] > 0 ? await take(lengths[2]) : null
  if (kind === 'refused') return { kind: 'none', reason: Buffer.from(small).toString() }
  for (const made of [small, large, screen]) {
    if (made !== null && !isWebp(made)) throw new MakingFailed('its process answers no WebP')
  }
  return { kind: 'made', thumbnail: { small, large, screen } }
}

function isWebp(bytes: Uint8Array): boolean {
  const text = Buffer.from(bytes.subarray(0, 12)).toString('latin1')
  return text.startsWith('RIFF') && text.endsWith('WEBP')
}
