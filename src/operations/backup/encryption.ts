/**
 * Encrypted backups. Each has a key of its own, which lies in its catalog, encrypted by the passphrase in the format of age
 * (https://age-encryption.org/v1).
 */
import { armor, Decrypter, Encrypter, generateX25519Identity } from 'age-encryption'
import { type BlobBody, BlobUnreadable, streamOf } from '../../blobs/blob-store.ts'
import { piecesOf } from '../relocation/blob-copier.ts'
import type { BackupStore } from './backup-store.ts'
import type { BackupKey } from './catalog-copies.ts'
import { CHUNK, decrypted, HEAD, type Role, SealBroken, SealingWriter, TAG } from './sealed-contents.ts'

/** Logarithm of the cost of one guess, as age has it: a second and 256 MiB. */
const WORK_FACTOR = 18

/** A new key, and the same locked by the passphrase. */
export async function makeKey(passphrase: string, workFactor = WORK_FACTOR): Promise<BackupKey> {
  const key = await generateX25519Identity()
  const encrypter = new Encrypter()
  encrypter.setPassphrase(passphrase)
  encrypter.setScryptWorkFactor(workFactor)
  return { key, lockedKey: armor.encode(await encrypter.encrypt(key)) }
}

/** Null for another passphrase. */
export async function unlockKey(lockedKey: string, passphrase: string): Promise<string | null> {
  const decrypter = new Decrypter()
  decrypter.addPassphrase(passphrase)
  try {
    return await decrypter.decrypt(armor.decode(lockedKey), 'text')
  } catch {
    return null
  }
}

const sealedSize = (size: number) => HEAD + size + TAG * Math.max(1, Math.ceil(size / CHUNK))

function plainSize(sealed: number): number {
  const chunks = Math.ceil((sealed - HEAD) / (CHUNK + TAG))
  // Of an object that was cut inside its head there is no size.
  return Math.max(-1, sealed - HEAD - TAG * chunks)
}

/** The store with objects for that role encrypted on their way. Sizes are those of the plain bytes; the mark stays plain. */
export function encrypted(store: BackupStore, secret: string, role: Role): BackupStore {
  return {
    create: async (blob) => new SealingWriter(await store.create(blob), { secret, role, blob }),
    async read(blob, start, end, size): Promise<BlobBody> {
      if (start !== 0) throw new Error('an encrypted content is read from its beginning')
      const sealed = sealedSize(end)
      const body = await store.read(blob, 0, sealed, size === undefined ? undefined : sealedSize(size))
      const plain = decrypted(piecesOf(body, sealed), { secret, role, blob })
      return streamOf({
        next: async () => {
          try {
            return (await plain.next()).value ?? null
          } catch (error) {
            if (error instanceof SealBroken) throw new BlobUnreadable(blob, { cause: error })
            throw error
          }
        },
        cancel: () => void plain.return(undefined).catch(() => {}),
      })
    },
    async size(blob) {
      const sealed = await store.size(blob)
      return sealed === null ? null : plainSize(sealed)
    },
    remove: (blob) => store.remove(blob),
    removeAll: (blobs, failed) => store.removeAll(blobs, failed),
    async *listSizes() {
      for await (const { key, size } of store.listSizes()) yield { key, size: plainSize(size) }
    },
    list: () => store.list(),
    readMark: (copy) => store.readMark(copy),
    writeMark: (mark, copy) => store.writeMark(mark, copy),
  }
}
