import { totalmem } from 'node:os'
import type { Metadata } from 'sharp'
import type { CardKind } from '../domain/card.ts'
import { SECOND } from '../domain/clock.ts'
import { entryPath } from '../program/entries.ts'
import {
  ANSWER_HEADER,
  type AnswerHeader,
  inMemory,
  MOST_BYTES,
  packPictures,
  READY,
  readAnswerHeader,
  requestHeader,
  type Source,
  ThumbnailFailed,
  ThumbnailMakerUnavailable,
  type ThumbnailResult,
  type Wanted,
} from './maker.ts'
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
  /** JPEG of thumbnails, finished for all who ask for it. Not concurrently. Throws ThumbnailFailed and ThumbnailMakerUnavailable. */
  compose(kind: CardKind, pictures: readonly Uint8Array[]): Promise<Uint8Array>
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

  /** One request to the process, which is started where none is there. */
  async function ask<T>(
    wanted: Wanted,
    source: Source,
    signal: AbortSignal,
    read: (worker: Worker, guard: ProcessGuard) => Promise<T>,
  ): Promise<T> {
    signal.throwIfAborted()
    clearTimeout(idle)
    const worker = present() ?? (await start(signal))
    kept = worker
    const guard = new ProcessGuard(worker.child, limits, signal)
    try {
      await send(worker, wanted, source, guard)
      const answered = await guard.step(read(worker, guard))
      if (usageOf(worker.child.pid).memory > MAX_KEPT_MEMORY) end(worker)
      return answered
    } catch (error) {
      end(worker)
      throw error
    } finally {
      guard.end()
      if (kept !== null) idle = setTimeout(() => end(worker), IDLE).unref()
    }
  }

  return {
    async make(source, signal) {
      if (source.size > LARGEST) return { kind: 'none', reason: `it has more than ${LARGEST} bytes` }
      return ask('thumbnail', source, signal, receive)
    },

    compose: (kind, pictures) =>
      ask(kind, inMemory(packPictures(pictures)), new AbortController().signal, receiveCard),

    close() {
      clearTimeout(idle)
      if (kept !== null) end(kept)
    },
  }
}

async function send(
  { stdin }: Worker,
  wanted: Wanted,
  { size, readInto }: Source,
  guard: ProcessGuard,
): Promise<void> {
  // A failed write means that the process has ended; awaiting the answer shows it.
  const hand = async (bytes: Uint8Array) => {
    stdin.write(bytes)
    await guard.step(Promise.resolve(stdin.flush()))
  }
  await hand(requestHeader(wanted, size)).catch(() => Promise.reject(guard.failure()))
  const piece = new Uint8Array(Math.min(size, PIECE))
  for (let at = 0; at < size; at += piece.byteLength) {
    const part = piece.subarray(0, size - at)
    await readInto(at, part)
    await hand(part).catch(() => Promise.reject(guard.failure()))
  }
}

interface Answer extends AnswerHeader {
  readonly parts: readonly [Uint8Array, Uint8Array | null, Uint8Array | null]
}

async function receiveAnswer({ answers }: Worker, guard: ProcessGuard): Promise<Answer> {
  const take = async (length: number) => {
    if (length > MOST_BYTES) throw new ThumbnailFailed('its process answers more than there can be')
    const bytes = await answers.take(length)
    if (bytes === null) throw guard.failure()
    return bytes
  }
  const header = readAnswerHeader(await take(ANSWER_HEADER))
  const [first, second, third] = header.lengths
  const small = await take(first)
  const large = second > 0 ? await take(second) : null
  return { ...header, parts: [small, large, third > 0 ? await take(third) : null] }
}

async function receiveCard(worker: Worker, guard: ProcessGuard): Promise<Uint8Array> {
  const { kind, parts } = await receiveAnswer(worker, guard)
  const [card] = parts
  if (kind === 'refused') throw new ThumbnailFailed(`its process refuses: ${Buffer.from(card).toString()}`)
  if (card[0] !== 0xff || card[1] !== 0xd8) throw new ThumbnailFailed('its process answers no JPEG')
  return card
}

async function receive(worker: Worker, guard: ProcessGuard): Promise<ThumbnailResult> {
  const { kind, width, height, parts } = await receiveAnswer(worker, guard)
  const [small, large, screen] = parts
  if (kind === 'refused') return { kind: 'none', reason: Buffer.from(small).toString() }
  if (width === 0 || height === 0) throw new ThumbnailFailed('its process answers a picture without pixels')
  for (const made of [small, large, screen]) {
    if (made !== null && !isWebp(made)) throw new ThumbnailFailed('its process answers no WebP')
  }
  return { kind: 'made', thumbnail: { small, large, screen, isTurned: kind === 'turned', width, height } }
}

function isWebp(bytes: Uint8Array): boolean {
  const text = Buffer.from(bytes.subarray(0, 12)).toString('latin1')
  return text.startsWith('RIFF') && text.endsWith('WEBP')
}

const MB = 1024 * 1024

/** Phone sensors have up to 200 million. */
const MOST_PIXELS = 400_000_000

const BASE = 96 * MB
const FILE_COPIES = 2
/** Rows kept while a picture is read from top to bottom, and bytes a sample while it is scaled down. */
const KEPT_ROWS = 1024
const KEPT_BYTES = 1.6

/** Bytes: an eighth, which leaves the rest to the server; at least a photo's need, and at most 1 GB. */
export function memoryFor(total: number): number {
  return Math.min(Math.max(total / 8, 256 * MB), 1024 * MB)
}

/** Bytes of this machine, or of the control group where that has less. */
export function machineMemory(): number {
  const group = process.constrainedMemory()
  return group > 0 ? Math.min(group, totalmem()) : totalmem()
}

/** Why a picture needs more than `memory` bytes; null where it does not. */
export function whyTooLarge(head: Metadata, fileSize: number, memory: number): string | null {
  const pixels = head.width * head.height
  if (pixels > MOST_PIXELS) return `it has ${pixels} pixels`
  const needed = BASE + FILE_COPIES * fileSize + decoding(head)
  return needed > memory ? `it would take ${Math.ceil(needed / MB)} MB` : null
}

/** Bytes, from measurements of each format: docs/decisions/previews.md#limits-are-in-memory-and-time. */
function decoding(head: Metadata): number {
  const { width, height, format } = head
  const rows = width * head.channels * bytesPerSample(head) * Math.min(height, KEPT_ROWS) * KEPT_BYTES
  // JPEG and WebP are decoded at a smaller scale, and none of their rows are kept.
  return width * height * bytesPerPixel(head) + (format === 'jpeg' || format === 'webp' ? 0 : rows)
}

function bytesPerPixel(head: Metadata): number {
  const { format, channels, isProgressive, chromaSubsampling, pages = 1 } = head
  switch (format) {
    case 'jpeg':
      // Two bytes a coefficient.
      return isProgressive ? (chromaSubsampling === '4:2:0' ? 3 : 2 * channels) : 0
    case 'png':
      return isProgressive ? channels * bytesPerSample(head) : 0
    case 'webp':
      return pages > 1 ? 10 : 5
    case 'gif':
      return pages > 1 ? 16 : 6
    case 'heif':
      if (isHevc(head)) return 14
      return bytesPerSample(head) > 1 ? 24 : 18
    case 'tiff':
      // Tiles are assembled, and a strip may be the whole picture.
      return 1.5 * channels * bytesPerSample(head)
    default:
      return 18
  }
}

/** Of phones; other HEIF is AVIF. */
export function isHevc({ format, compression }: Metadata): boolean {
  return format === 'heif' && compression === 'hevc'
}

const DEPTHS: Readonly<Record<string, number>> = {
  ...{ uchar: 1, char: 1, ushort: 2, short: 2, uint: 4, int: 4, float: 4 },
  ...{ complex: 8, double: 8, dpcomplex: 16 },
}

function bytesPerSample({ depth }: Metadata): number {
  return DEPTHS[depth] ?? 16
}

export class ByteReader {
  readonly #chunks: AsyncIterator<Uint8Array>
  #rest: Uint8Array = new Uint8Array(0)

  constructor(stream: AsyncIterable<Uint8Array>) {
    this.#chunks = stream[Symbol.asyncIterator]()
  }

  /** Null when the stream ends before that many bytes. */
  async take(length: number): Promise<Uint8Array | null> {
    const taken = new Uint8Array(length)
    for (let filled = 0; filled < length; ) {
      if (this.#rest.byteLength === 0) {
        const { done, value } = await this.#chunks.next()
        if (done === true) return null
        this.#rest = value
      }
      const part = this.#rest.subarray(0, length - filled)
      taken.set(part, filled)
      this.#rest = this.#rest.subarray(part.byteLength)
      filled += part.byteLength
    }
    return taken
  }
}
