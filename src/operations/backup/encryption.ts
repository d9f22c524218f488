/**
 * Encrypted backups, in the format of age (https://age-encryption.org/v1), so that `age --decrypt` opens their contents too.
 * Each backup has a key of its own, which lies in its catalog, encrypted by the passphrase.
 */
import { armor, Decrypter, Encrypter, generateX25519Identity, identityToRecipient } from 'age-encryption'
import type { BlobBody, BlobWriter } from '../../blobs/blob-store.ts'
import { Refusal } from '../../domain/errors.ts'
import type { BackupStore } from './backup-store.ts'

/** Bytes of one chunk of a payload, and of what authenticates it. */
const CHUNK = 64 * 1024
const TAG = 16

/** A new key, and the same locked by the passphrase. */
export async function makeKey(passphrase: string): Promise<{ key: string; lockedKey: string }> {
  const key = await generateX25519Identity()
  const encrypter = new Encrypter()
  encrypter.setPassphrase(passphrase)
  return { key, lockedKey: armor.encode(await encrypter.encrypt(key)) }
}

/** Throws Refusal PRECONDITION_FAILED for another passphrase. */
export async function unlockKey(lockedKey: string, passphrase: string): Promise<string> {
  const decrypter = new Decrypter()
  decrypter.addPassphrase(passphrase)
  try {
    return await decrypter.decrypt(armor.decode(lockedKey), 'text')
  } catch (cause) {
    throw new Refusal('PRECONDITION_FAILED', 'the passphrase is not the one of this backup', undefined, {
      cause,
    })
  }
}

/** The store with contents encrypted on their way. Sizes are those of the plain contents; the mark stays plain. */
export async function encrypted(store: BackupStore, key: string): Promise<BackupStore> {
  const encrypter = new Encrypter()
  encrypter.addRecipient(await identityToRecipient(key))
  const decrypter = new Decrypter()
  decrypter.addIdentity(key)
  const header = (await encrypter.encrypt(new Uint8Array())).length - TAG
  const sealedSize = (size: number) => header + size + TAG * Math.max(1, Math.ceil(size / CHUNK))
  const plainSize = (sealed: number) => {
    const chunks = Math.ceil((sealed - header) / (CHUNK + TAG))
    // Of a content that was cut inside its header there is no size.
    return Math.max(-1, sealed - header - TAG * chunks)
  }
  return {
    create: async (blob) => new EncryptedWriter(await store.create(blob), encrypter),
    async read(blob, start, end, size): Promise<BlobBody> {
      if (start !== 0) throw new Error('an encrypted content is read from its beginning')
      const sealed = sealedSize(end)
      const body = await store.read(blob, 0, sealed, size === undefined ? undefined : sealedSize(size))
      return decrypter.decrypt(body instanceof Blob ? body.stream() : body)
    },
    async size(blob) {
      const sealed = await store.size(blob)
      return sealed === null ? null : plainSize(sealed)
    },
    remove: (blob) => store.remove(blob),
    removeAll: (blobs, failed) => store.removeAll(blobs, failed),
    list: () => store.list(),
    readMark: () => store.readMark(),
    writeMark: (mark) => store.writeMark(mark),
  }
}

class EncryptedWriter implements BlobWriter {
  readonly #inner: BlobWriter
  readonly #input: WritableStreamDefaultWriter<Uint8Array>
  /** Rejects as soon as the store takes no more. */
  readonly #passedOn: Promise<void>
  #size = 0

  constructor(inner: BlobWriter, encrypter: Encrypter) {
    const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>()
    this.#inner = inner
    this.#input = writable.getWriter()
    this.#passedOn = passOn(encrypter, readable, inner)
    this.#passedOn.catch(() => {})
  }

  async write(chunk: Uint8Array): Promise<void> {
    this.#size += chunk.byteLength
    // The stream may keep the chunk for longer than its owner does.
    const written = this.#input.write(chunk.slice())
    written.catch(() => {})
    await Promise.race([written, this.#passedOn])
  }

  async complete(recorded?: Promise<void>): Promise<number> {
    this.#input.close().catch(() => {})
    await this.#passedOn
    await this.#inner.complete(recorded)
    return this.#size
  }

  async abort(): Promise<void> {
    await this.#input.abort().catch(() => {})
    await this.#passedOn.catch(() => {})
    await this.#inner.abort()
  }
}

async function passOn(
  encrypter: Encrypter,
  plain: ReadableStream<Uint8Array>,
  inner: BlobWriter,
): Promise<void> {
  for await (const chunk of await encrypter.encrypt(plain)) await inner.write(chunk)
}
