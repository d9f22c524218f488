import { type FileHandle, open, stat } from 'node:fs/promises'
import { nameByContent } from '../domain/media-type.ts'

/** As found, so that changes are noticed. */
export interface FoundFile {
  readonly shown: string
  readonly path: string
  readonly name: string
  readonly size: number
  /** Milliseconds since the epoch, with fractions. */
  readonly changedAt: number
  /** Device and inode: a file that replaces this one has others. */
  readonly inode: string
}

export class FileChanged extends Error {
  override readonly name = 'FileChanged'

  constructor({ shown }: FoundFile) {
    super(`${shown} changed while it was sent; run the command again to send it as it is now.`)
  }
}

/** Large enough that reading and hashing cost little beside the calls, small enough for smooth progress. */
const PIECE = 1024 * 1024

const QUEUED = 2

/** Buffers: those queued, handed over and read ahead, and two spare. Reuse is cheaper than new memory. */
const IN_USE = QUEUED + 4

/** An open file, read in any order and repeatedly, and hashed on the way. */
export class OpenFile {
  readonly #file: FoundFile
  readonly #handle: FileHandle
  readonly #hash = new Bun.CryptoHasher('sha256')
  #hashed = 0
  #digest: string | null = null
  /** The file stays open until these end. */
  readonly #underWay = new Set<Promise<unknown>>()

  constructor(file: FoundFile, handle: FileHandle) {
    this.#file = file
    this.#handle = handle
  }

  /**
   * Made for `fetch`: copy or send a piece before asking for the next, since its memory is reused.
   * `test/server/runtime/streamed-bodies` holds Bun to it.
   */
  stream(from: number, to: number, passed: (bytes: number) => void = () => {}): ReadableStream<Uint8Array> {
    return this.#stream(from, to, passed, true)
  }

  /** `stream` without hashing, for ranges in any order; hash them by `hashUpTo`. */
  unhashedStream(from: number, to: number, passed: (bytes: number) => void): ReadableStream<Uint8Array> {
    return this.#stream(from, to, passed, false)
  }

  #stream(
    from: number,
    to: number,
    passed: (bytes: number) => void,
    hashes: boolean,
  ): ReadableStream<Uint8Array> {
    let at = from
    let ahead: Promise<Uint8Array<ArrayBuffer>> | null = null
    const memory: Uint8Array<ArrayBuffer>[] = []
    let turn = 0
    const readNext = () => {
      const piece = memory[turn] ?? newPiece()
      memory[turn] = piece
      turn = (turn + 1) % IN_USE
      return this.#read(at, piece.subarray(0, to - at))
    }
    const pull = async (controller: ReadableStreamDefaultController<Uint8Array>) => {
      if (at >= to) return controller.close()
      // Hashes what an earlier run sent first, so that the hash has no gap.
      if (hashes && at === from) await this.hashUpTo(from)
      const piece = await (ahead ?? readNext())
      const start = at
      at += piece.length
      // Reads the next piece while this one is hashed.
      ahead = at < to ? readNext() : null
      if (hashes) this.#addToHash(start, piece)
      passed(piece.length)
      controller.enqueue(piece)
      if (at >= to) controller.close()
    }
    return new ReadableStream<Uint8Array>({ pull }, { highWaterMark: QUEUED })
  }

  /**
   * Unhashed, for the kernel to send over plain HTTP without a proxy; otherwise Bun would read it into
   * memory.
   */
  range(from: number, to: number): Blob {
    return Bun.file(this.#handle.fd).slice(from, to)
  }

  /** A small range, in memory. Hashed where it continues the hash. */
  async bytes(from = 0, to: number = this.#file.size): Promise<Uint8Array<ArrayBuffer>> {
    const bytes = new Uint8Array(to - from)
    for (let at = from; at < to; ) {
      const piece = await this.#read(at, bytes.subarray(at - from, at - from + PIECE))
      this.#addToHash(at, piece)
      at += piece.length
    }
    return bytes
  }

  /** Whether the bytes before the offset equal those of the upload, as far as they are known. */
  async continues(
    offset: number,
    before: { readonly length: number; readonly sha256: string } | null,
  ): Promise<boolean> {
    if (before === null) return true
    const bytes = await this.bytes(offset - before.length, offset)
    return Bun.SHA256.hash(bytes, 'hex') === before.sha256
  }

  async hashUpTo(end: number): Promise<void> {
    if (this.#hashed >= end) return
    const memory = newPiece()
    while (this.#hashed < end) {
      const from = this.#hashed
      this.#addToHash(from, await this.#read(from, memory.subarray(0, end - from)))
    }
  }

  /** Hexadecimal; reads the rest first. */
  async sha256(): Promise<string> {
    await this.hashUpTo(this.#file.size)
    this.#digest ??= this.#hash.digest('hex')
    return this.#digest
  }

  /** Throws FileChanged when the file was changed or removed. */
  async assertUnchanged(): Promise<void> {
    const { size, changedAt, inode, path } = this.#file
    for (const now of [await this.#handle.stat(), await stat(path).catch(() => null)]) {
      const isSame = now?.size === size && now.mtimeMs === changedAt && `${now.dev}:${now.ino}` === inode
      if (!isSame) throw new FileChanged(this.#file)
    }
  }

  async close(): Promise<void> {
    await Promise.allSettled(this.#underWay)
    await this.#handle.close()
  }

  #read(from: number, into: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>> {
    const reading = readFully(this.#handle, from, into).then((piece) => {
      if (piece.length === 0) throw new FileChanged(this.#file)
      return piece
    })
    this.#underWay.add(reading)
    // The reader of the piece gets the failure; a piece read ahead may have no reader.
    const ended = () => void this.#underWay.delete(reading)
    reading.then(ended, ended)
    return reading
  }

  #addToHash(from: number, piece: Uint8Array): void {
    if (this.#hashed < from || from + piece.length <= this.#hashed) return
    this.#hash.update(piece.subarray(this.#hashed - from))
    this.#hashed = from + piece.length
  }
}

export async function openLocalFile(file: FoundFile): Promise<OpenFile> {
  return new OpenFile(file, await open(file.path, 'r'))
}

/** Not zeroed: only what was read into it is handed out. Not from Node's pool, whose memory is shared. */
const newPiece = (): Uint8Array<ArrayBuffer> => Buffer.allocUnsafeSlow(PIECE)

async function readFully(
  handle: FileHandle,
  from: number,
  piece: Uint8Array<ArrayBuffer>,
): Promise<Uint8Array<ArrayBuffer>> {
  let filled = 0
  while (filled < piece.length) {
    const { bytesRead } = await handle.read(piece, filled, piece.length - filled, from + filled)
    if (bytesRead === 0) break
    filled += bytesRead
  }
  return piece.subarray(0, filled)
}

export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r').catch(() => null)
  try {
    // Windows syncs no folders.
    await handle?.sync().catch(() => {})
  } finally {
    await handle?.close()
  }
}

/** Bytes that reveal a content's type. */
const HEAD = 4100

export interface NamedInput {
  readonly name: string
  readonly content: AsyncIterable<Uint8Array>
}

export async function namedInput(stream: AsyncIterable<Uint8Array>): Promise<NamedInput> {
  const chunks = stream[Symbol.asyncIterator]()
  const head: Uint8Array[] = []
  for (let length = 0; length < HEAD; ) {
    const { done, value } = await chunks.next()
    if (done) break
    head.push(value)
    length += value.byteLength
  }
  return { name: await nameByContent(Buffer.concat(head), null), content: rest(head, chunks) }
}

async function* rest(
  head: readonly Uint8Array[],
  chunks: AsyncIterator<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  yield* head
  for (let next = await chunks.next(); !next.done; next = await chunks.next()) yield next.value
}
