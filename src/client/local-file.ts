import { type FileHandle, open, stat } from 'node:fs/promises'

/** A file as it was found, so that a change is noticed. */
export interface FoundFile {
  /** As it was named, for people. */
  readonly shown: string
  /** Absolute. */
  readonly path: string
  /** Without its folders. */
  readonly name: string
  readonly size: number
  /** Milliseconds since the epoch, with fractions. */
  readonly changedAt: number
  /** Its device and number there: of a file that takes its place another one. */
  readonly inode: string
}

/** The file is no longer as it was found. */
export class FileChanged extends Error {
  override readonly name = 'FileChanged'

  constructor({ shown }: FoundFile) {
    super(`${shown} changed while it was sent; run the command again to send it as it is now.`)
  }
}

/** Large enough that reading and hashing cost little beside the calls, small enough for a progress that moves. */
const PIECE = 1024 * 1024

/** Pieces that wait to be sent. */
const QUEUED = 2

/**
 * Pieces of a stream whose memory is not read into again yet: those that wait, the one that is handed over, the one that
 * is read ahead, and two to spare. Memory that is new for every piece costs more than reading into it.
 */
const IN_USE = QUEUED + 4

/** A file that is being read, in any order and more than once, and is hashed on the way. */
export class OpenFile {
  readonly #file: FoundFile
  readonly #handle: FileHandle
  readonly #hash = new Bun.CryptoHasher('sha256')
  /** How far the hash has come: what lies before is not hashed again. */
  #hashed = 0
  #digest: string | null = null
  /** Reads that have begun; the file stays open until they end. */
  readonly #underWay = new Set<Promise<unknown>>()

  constructor(file: FoundFile, handle: FileHandle) {
    this.#file = file
    this.#handle = handle
  }

  /**
   * The bytes of a range, read as they are asked for. `passed` hears of every piece. Made for `fetch`: a piece is to be
   * copied or sent before the next is asked for, since its memory is read into again. `test/runtime/streamed-bodies`
   * holds Bun to it.
   */
  stream(from: number, to: number, passed: (bytes: number) => void = () => {}): ReadableStream<Uint8Array> {
    return this.#stream(from, to, passed, true)
  }

  /** The same without hashing, for ranges that are sent in no order: `hashUpTo` finds out what they hash to. */
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
      // What an earlier run has sent is hashed first, so that the hash never has a gap.
      if (hashes && at === from) await this.hashUpTo(from)
      const piece = await (ahead ?? readNext())
      const start = at
      at += piece.length
      // The next piece is read while this one is hashed.
      ahead = at < to ? readNext() : null
      if (hashes) this.#addToHash(start, piece)
      passed(piece.length)
      controller.enqueue(piece)
      if (at >= to) controller.close()
    }
    return new ReadableStream<Uint8Array>({ pull }, { highWaterMark: QUEUED })
  }

  /**
   * The bytes of a range, for the system to send without this process reading them: what they hash to, `hashUpTo` finds
   * out. Bun does so over plain HTTP and without a proxy; otherwise it would read all of the range into memory.
   */
  range(from: number, to: number): Blob {
    return Bun.file(this.#handle.fd).slice(from, to)
  }

  /** The bytes of a range that is small, in memory. What it brings is hashed where the hash has come so far. */
  async bytes(from = 0, to: number = this.#file.size): Promise<Uint8Array<ArrayBuffer>> {
    const bytes = new Uint8Array(to - from)
    for (let at = from; at < to; ) {
      const piece = await this.#read(at, bytes.subarray(at - from, at - from + PIECE))
      this.#addToHash(at, piece)
      at += piece.length
    }
    return bytes
  }

  /** Whether the file goes on where an upload is: what lies before the offset is the same in both, as far as is known. */
  async continues(
    offset: number,
    before: { readonly length: number; readonly sha256: string } | null,
  ): Promise<boolean> {
    if (before === null) return true
    const bytes = await this.bytes(offset - before.length, offset)
    return Bun.SHA256.hash(bytes, 'hex') === before.sha256
  }

  /** Reads and hashes what lies before and has not been hashed yet. */
  async hashUpTo(end: number): Promise<void> {
    if (this.#hashed >= end) return
    const memory = newPiece()
    while (this.#hashed < end) {
      const from = this.#hashed
      this.#addToHash(from, await this.#read(from, memory.subarray(0, end - from)))
    }
  }

  /** The SHA-256 of the whole, in hexadecimal; reads what has not been read yet. */
  async sha256(): Promise<string> {
    await this.hashUpTo(this.#file.size)
    this.#digest ??= this.#hash.digest('hex')
    return this.#digest
  }

  /** Throws FileChanged when the file is no longer as it was found, or no longer there. */
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

  /** As much of the file as it has from there, in the memory that was handed in. */
  #read(from: number, into: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>> {
    const reading = readFully(this.#handle, from, into).then((piece) => {
      if (piece.length === 0) throw new FileChanged(this.#file)
      return piece
    })
    this.#underWay.add(reading)
    // Whoever waits for the piece hears of a failure; a piece read ahead may find nobody who does.
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

/** Not zeroed: only what was read into it leaves here. Nor from Node's pool, whose memory many share. */
const newPiece = (): Uint8Array<ArrayBuffer> => Buffer.allocUnsafeSlow(PIECE)

/** Fills the piece; returns as much of it as the file has. */
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
