import { type FileHandle, open } from 'node:fs/promises'

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
}

/** The file is no longer as it was found. */
export class FileChanged extends Error {
  override readonly name = 'FileChanged'

  constructor({ shown }: FoundFile) {
    super(`${shown} changed while it was sent; run the command again to send it as it is now.`)
  }
}

/** A file that is being read, in any order and more than once, and is hashed on the way. */
export interface OpenFile {
  /** The bytes of a range, read as they are asked for. `passed` hears of every piece. */
  stream(from: number, to: number, passed?: (bytes: number) => void): ReadableStream<Uint8Array>
  /** The whole file, for one that is small. */
  bytes(): Promise<Uint8Array<ArrayBuffer>>
  /** The SHA-256 of the whole, in hexadecimal; reads what has not been read yet. */
  sha256(): Promise<string>
  /** Throws FileChanged when the file is no longer as it was found. */
  assertUnchanged(): Promise<void>
  close(): Promise<void>
}

/** Large enough that reading and hashing cost little beside the calls, small enough for a progress that moves. */
const PIECE = 1024 * 1024

export async function openFile(file: FoundFile): Promise<OpenFile> {
  const handle = await open(file.path, 'r')
  const hash = new Bun.CryptoHasher('sha256')
  /** How far the hash has come: what lies before is not hashed again. */
  let hashed = 0
  let digest: string | null = null

  async function read(from: number, to: number): Promise<Uint8Array<ArrayBuffer>> {
    const piece = await readFully(handle, from, Math.min(PIECE, to - from))
    if (piece.length === 0) throw new FileChanged(file)
    if (from <= hashed && hashed < from + piece.length) {
      hash.update(piece.subarray(hashed - from))
      hashed = from + piece.length
    }
    return piece
  }

  async function hashUpTo(end: number): Promise<void> {
    while (hashed < end) await read(hashed, end)
  }

  return {
    stream(from, to, passed = () => {}) {
      let at = from
      return new ReadableStream<Uint8Array>(
        {
          async pull(controller) {
            if (at >= to) return controller.close()
            // What an earlier run has sent is hashed first, so that the hash never has a gap.
            if (at === from) await hashUpTo(from)
            const piece = await read(at, to)
            at += piece.length
            passed(piece.length)
            controller.enqueue(piece)
            if (at >= to) controller.close()
          },
        },
        { highWaterMark: 2 },
      )
    },

    async bytes() {
      const whole = new Uint8Array(file.size)
      for (let at = 0; at < file.size; ) {
        const piece = await read(at, file.size)
        whole.set(piece, at)
        at += piece.length
      }
      return whole
    },

    async sha256() {
      await hashUpTo(file.size)
      digest ??= hash.digest('hex')
      return digest
    },

    async assertUnchanged() {
      const now = await handle.stat()
      if (now.size !== file.size || now.mtimeMs !== file.changedAt) throw new FileChanged(file)
    },

    close: () => handle.close(),
  }
}

/** Fewer bytes than asked for only at the file's end. */
async function readFully(handle: FileHandle, from: number, length: number): Promise<Uint8Array<ArrayBuffer>> {
  const piece = new Uint8Array(length)
  let filled = 0
  while (filled < length) {
    const { bytesRead } = await handle.read(piece, filled, length - filled, from + filled)
    if (bytesRead === 0) break
    filled += bytesRead
  }
  return piece.subarray(0, filled)
}
