import { SECOND } from '../domain/clock.ts'
import { entryPath } from '../program/entries.ts'
import {
  MOST_BYTES,
  type Source,
  ThumbnailFailed,
  ThumbnailMakerUnavailable,
  type ThumbnailResult,
} from './maker.ts'
import { ANSWER_HEADER, READY, readAnswerHeader, requestHeader } from './messages.ts'
import { ByteReader } from './picture-cost.ts'
import { type Limits, ProcessGuard, usageOf } from './process-guard.ts'
import type { Spawned, Spawner } from './spawning.ts'

/** Bytes: photos of 200 million pixels have half of that. */
const LARGEST = 256 * 1024 * 1024
const PIECE = 4 * 1024 * 1024
/** Milliseconds until an idle process is ended. */
const IDLE = 5 * SECOND
/** Bytes of memory above which the process is replaced, since it returns none to the system. */
const MAX_KEPT_MEMORY = 256 * 1024 * 1024

const WORKER = entryPath('thumbnails/image-worker')

export interface Images {
  make(source: Source, signal: AbortSignal): Promise<ThumbnailResult>
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
    // The process inherits no .env file, and ends with the server.
    const flags = ['--smol', '--no-env-file', '--no-install', '--no-orphans']
    // One malloc arena for all threads: separate ones would each keep the memory of a picture.
    const child = spawner.spawn([process.execPath, ...flags, WORKER, String(limits.memory)], 'pipe', {
      MALLOC_ARENA_MAX: '2',
    })
    const { stdin, stdout } = child
    if (stdin === undefined || typeof stdin === 'number')
      throw new Error('the child process has no pipe for its input')
    const answers = new ByteReader(stdout)
    const guard = new ProcessGuard(child, { ...limits, work: limits.step }, signal)
    try {
      if ((await guard.step(answers.take(READY.byteLength))) !== null) return { child, stdin, answers }
      signal.throwIfAborted()
      throw new ThumbnailMakerUnavailable('the process that makes thumbnails does not start')
    } finally {
      guard.end()
    }
  }

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
      const guard = new ProcessGuard(worker.child, limits, signal)
      try {
        await send(worker, source, guard)
        const making = await guard.step(receive(worker, guard))
        if (usageOf(worker.child.pid).memory > MAX_KEPT_MEMORY) end(worker)
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

async function send({ stdin }: Worker, { size, readInto }: Source, guard: ProcessGuard): Promise<void> {
  // A failed write means that the process has ended; awaiting the answer shows it.
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

async function receive({ answers }: Worker, guard: ProcessGuard): Promise<ThumbnailResult> {
  const take = async (length: number) => {
    if (length > MOST_BYTES) throw new ThumbnailFailed('its process answers more than there can be')
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
    if (made !== null && !isWebp(made)) throw new ThumbnailFailed('its process answers no WebP')
  }
  return { kind: 'made', thumbnail: { small, large, screen, isTurned: kind === 'turned' } }
}

function isWebp(bytes: Uint8Array): boolean {
  const text = Buffer.from(bytes.subarray(0, 12)).toString('latin1')
  return text.startsWith('RIFF') && text.endsWith('WEBP')
}
