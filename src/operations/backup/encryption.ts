/**
 * Encrypted backups. Each has a key of its own, which lies in its catalog, encrypted by the passphrase in the format of age
 * (https://age-encryption.org/v1). Contents of earlier versions are in that format too, and are read.
 */
import { armor, Decrypter, Encrypter, generateX25519Identity, identityToRecipient } from 'age-encryption'
import { type BlobBody, streamOf } from '../../blobs/blob-store.ts'
import { Refusal } from '../../domain/errors.ts'
import { piecesOf } from '../relocation/blob-copier.ts'
import type { BackupStore } from './backup-store.ts'
import { CHUNK, decrypted, isSealed, SealingWriter, TAG } from './sealed-contents.ts'

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
  const head = await headOfAge(key)
  const sealedSize = (size: number) => head + size + TAG * Math.max(1, Math.ceil(size / CHUNK))
  const plainSize = (sealed: number) => {
    const chunks = Math.ceil((sealed - head) / (CHUNK + TAG))
    // Of a content that was cut inside its head there is no size.
    return Math.max(-1, sealed - head - TAG * chunks)
  }
  return {
    create: async (blob) => new SealingWriter(await store.create(blob), key, head),
    async read(blob, start, end, size): Promise<BlobBody> {
      if (start !== 0) throw new Error('an encrypted content is read from its beginning')
      const sealed = sealedSize(end)
      const body = await store.read(blob, 0, sealed, size === undefined ? undefined : sealedSize(size))
      return streamed(plainBytes(piecesOf(body, sealed), key, head))
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

/** Bytes of the head of a content in the format of age. Ours are as long, so that one size says the other in both. */
async function headOfAge(key: string): Promise<number> {
  const encrypter = new Encrypter()
  encrypter.addRecipient(await identityToRecipient(key))
  return (await encrypter.encrypt(new Uint8Array())).length - TAG
}

/** Of a content in either format. */
async function* plainBytes(
  body: AsyncIterable<Uint8Array>,
  key: string,
  head: number,
): AsyncGenerator<Uint8Array> {
  const pieces = body[Symbol.asyncIterator]()
  let beginning: Uint8Array = Buffer.alloc(0)
  while (beginning.length < head) {
    const next = await pieces.next()
    if (next.done === true) break
    beginning = Buffer.concat([beginning, next.value])
  }
  const whole = preceded(beginning, { [Symbol.asyncIterator]: () => pieces })
  if (isSealed(beginning)) return yield* decrypted(whole, key, head)
  const decrypter = new Decrypter()
  decrypter.addIdentity(key)
  yield* await decrypter.decrypt(streamed(whole))
}

async function* preceded(
  first: Uint8Array,
  others: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array, undefined> {
  yield first
  yield* others
}

function streamed(bytes: AsyncGenerator<Uint8Array, undefined>): ReadableStream<Uint8Array> {
  return streamOf({
    next: async () => (await bytes.next()).value ?? null,
    cancel: () => void bytes.return(undefined).catch(() => {}),
  })
}
