import { createCipheriv, createDecipheriv, hkdfSync, randomBytes, scrypt } from 'node:crypto'
import {
  type BlobChunks,
  type BlobStore,
  BlobUnreadable,
  type BlobWriter,
  eachChunk,
} from '../blobs/blob-store.ts'
import type { BlobKey } from '../domain/ids.ts'

/**
 * Encrypted backups. Each has a random key in its catalog, encrypted by AES-256-GCM under a scrypt key of the
 * passphrase. Cost: https://cheatsheetseries.owasp.org/cheatsheets/Password_Storage_Cheat_Sheet.html.
 */

export interface BackupKey {
  readonly key: string
  readonly lockedKey: string
}

const MIB = 1024 * 1024
/** 128 MiB a guess. */
const SCRYPT = { N: 2 ** 17, r: 8, p: 1, maxmem: 192 * MIB }
const [SALT, NONCE, KEY] = [16, 12, 32]
const CIPHER = 'aes-256-gcm'

function keyOf(passphrase: string, salt: Uint8Array): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    scrypt(passphrase.normalize('NFC'), salt, KEY, SCRYPT, (error, key) =>
      error ? reject(error) : resolve(key),
    )
  })
}

export async function makeKey(passphrase: string): Promise<BackupKey> {
  const key = randomBytes(KEY)
  const [salt, nonce] = [randomBytes(SALT), randomBytes(NONCE)]
  const cipher = createCipheriv(CIPHER, await keyOf(passphrase, salt), nonce)
  const locked = Buffer.concat([salt, nonce, cipher.update(key), cipher.final(), cipher.getAuthTag()])
  return { key: key.toString('hex'), lockedKey: locked.toString('base64') }
}

/** Null for another passphrase. */
export async function unlockKey(lockedKey: string, passphrase: string): Promise<string | null> {
  const locked = Buffer.from(lockedKey, 'base64')
  if (locked.length !== SALT + NONCE + KEY + TAG) return null
  const [salt, nonce] = [locked.subarray(0, SALT), locked.subarray(SALT, SALT + NONCE)]
  const decipher = createDecipheriv(CIPHER, await keyOf(passphrase, salt), nonce)
  decipher.setAuthTag(locked.subarray(-TAG))
  const key = decipher.update(locked.subarray(SALT + NONCE, -TAG))
  try {
    decipher.final()
  } catch {
    return null
  }
  return key.toString('hex')
}

const sealedSize = (size: number) => HEAD + size + TAG * Math.max(1, Math.ceil(size / CHUNK))

function plainSize(sealed: number): number {
  const chunks = Math.ceil((sealed - HEAD) / (CHUNK + TAG))
  // Truncated within its head: no size.
  return Math.max(-1, sealed - HEAD - TAG * chunks)
}

/** Encrypts objects for that role. Sizes are plaintext sizes; the mark stays plain. */
export function encrypted(store: BackupStore, secret: string, role: Role): BackupStore {
  return {
    create: async (blob) => new SealingWriter(await store.create(blob), { secret, role, blob }),
    async read(blob, start, end, size): Promise<BlobChunks> {
      if (start !== 0) throw new Error('an encrypted content is read from its beginning')
      const sealed = sealedSize(end)
      const body = await store.read(blob, 0, sealed, size === undefined ? undefined : sealedSize(size))
      const plain = decrypted(eachChunk(body), { secret, role, blob })
      return {
        next: async () => {
          try {
            return (await plain.next()).value ?? null
          } catch (error) {
            if (error instanceof SealBroken) throw new BlobUnreadable(blob, { cause: error })
            throw error
          }
        },
        cancel: () => void plain.return(undefined).catch(() => {}),
        release() {},
      }
    },
    async size(blob) {
      const sealed = await store.size(blob)
      return sealed === null ? null : plainSize(sealed)
    },
    remove: (blob) => store.remove(blob),
    removeAll: (blobs, failed) => store.removeAll(blobs, failed),
    async *list() {
      for await (const { size, ...blob } of store.list()) {
        yield { ...blob, size: size === null ? null : plainSize(size) }
      }
    },
    readMark: (copy) => store.readMark(copy),
    writeMark: (mark, copy) => store.writeMark(mark, copy),
  }
}

/**
 * Format of an encrypted object: a head with the salt of its key, then chunks of 64 KiB, each under AES-256-GCM with a
 * nonce of its number and whether it is the last, followed by its tag. The construction of age (STREAM) with a cipher
 * of the runtime. The key depends on the object's role and name, so that no object can stand for another.
 */

/** Bytes. */
export const CHUNK = 64 * 1024
export const TAG = 16

const NAME = Buffer.from('holdfast-backup-content/3\n')
const SEAL_SALT = 32

export const HEAD = NAME.length + SEAL_SALT

export type Role = 'content' | 'rows'

export interface SealedName {
  readonly secret: string
  readonly role: Role
  readonly blob: BlobKey
}

/** The object is not what was written under its name. */
export class SealBroken extends Error {
  override readonly name = 'SealBroken'
}

class ChunkCipher {
  readonly #key: Uint8Array
  #number = 0

  constructor({ secret, role, blob }: SealedName, salt: Uint8Array) {
    this.#key = new Uint8Array(hkdfSync('sha256', secret, salt, `holdfast backup ${role}/3 ${blob}`, 32))
  }

  seal(chunk: Uint8Array, isLast: boolean): Buffer[] {
    const cipher = createCipheriv(CIPHER, this.#key, this.#nonce(isLast))
    return [cipher.update(chunk), cipher.final(), cipher.getAuthTag()]
  }

  /** Throws SealBroken for a chunk of another place or object. */
  open(sealed: Uint8Array, isLast: boolean): Buffer {
    if (sealed.length < TAG) throw new SealBroken('it ends in the middle')
    const end = sealed.length - TAG
    const decipher = createDecipheriv(CIPHER, this.#key, this.#nonce(isLast))
    decipher.setAuthTag(sealed.subarray(end))
    const opened = decipher.update(sealed.subarray(0, end))
    try {
      decipher.final()
    } catch (cause) {
      throw new SealBroken('it is not what was encrypted under this name', { cause })
    }
    return opened
  }

  #nonce(isLast: boolean): Buffer {
    const nonce = Buffer.alloc(NONCE)
    nonce.writeUIntBE(this.#number++, NONCE - 7, 6)
    nonce[NONCE - 1] = isLast ? 1 : 0
    return nonce
  }
}

export class SealingWriter implements BlobWriter {
  readonly #inner: BlobWriter
  readonly #cipher: ChunkCipher
  #sealed: Uint8Array[]
  readonly #chunk = Buffer.allocUnsafe(CHUNK)
  #filled = 0
  #size = 0

  constructor(inner: BlobWriter, name: SealedName) {
    const salt = randomBytes(SEAL_SALT)
    this.#inner = inner
    this.#cipher = new ChunkCipher(name, salt)
    this.#sealed = [NAME, salt]
  }

  async write(chunk: Uint8Array): Promise<void> {
    this.#size += chunk.byteLength
    for (let at = 0; at < chunk.byteLength; ) {
      // A full chunk is the last one unless more bytes follow.
      if (this.#filled === CHUNK) this.#seal(false)
      const next = chunk.subarray(at, at + CHUNK - this.#filled)
      this.#chunk.set(next, this.#filled)
      this.#filled += next.byteLength
      at += next.byteLength
    }
    await this.#passOn()
  }

  async complete(recorded?: Promise<void>): Promise<number> {
    this.#seal(true)
    await this.#passOn()
    await this.#inner.complete(recorded)
    return this.#size
  }

  abort(): Promise<void> {
    return this.#inner.abort()
  }

  #seal(isLast: boolean): void {
    this.#sealed.push(...this.#cipher.seal(this.#chunk.subarray(0, this.#filled), isLast))
    this.#filled = 0
  }

  async #passOn(): Promise<void> {
    const sealed = Buffer.concat(this.#sealed)
    this.#sealed = []
    if (sealed.length > 0) await this.#inner.write(sealed)
  }
}

/** Throws SealBroken unless the whole object is what was written under that name. */
export async function* decrypted(
  body: AsyncIterable<Uint8Array>,
  name: SealedName,
): AsyncGenerator<Uint8Array> {
  let cipher: ChunkCipher | null = null
  let rest: Buffer = Buffer.alloc(0)
  for await (const piece of body) {
    rest = Buffer.concat([rest, piece])
    if (cipher === null) {
      if (rest.length < HEAD) continue
      if (!NAME.equals(rest.subarray(0, NAME.length)))
        throw new SealBroken('it is not encrypted in this format')
      cipher = new ChunkCipher(name, rest.subarray(NAME.length, HEAD))
      rest = rest.subarray(HEAD)
    }
    // The chunk that may be the last waits for the end.
    let at = 0
    const chunks: Buffer[] = []
    for (; rest.length - at > CHUNK + TAG; at += CHUNK + TAG) {
      chunks.push(cipher.open(rest.subarray(at, at + CHUNK + TAG), false))
    }
    rest = rest.subarray(at)
    if (chunks.length > 0) yield Buffer.concat(chunks)
  }
  if (cipher === null) throw new SealBroken('it ends in its head')
  yield cipher.open(rest, true)
}

/** Contents have their keys of the installation, packed rows new ones. */
export type BackupStore = Pick<
  BlobStore,
  'create' | 'read' | 'size' | 'remove' | 'removeAll' | 'list' | 'readMark' | 'writeMark'
>
