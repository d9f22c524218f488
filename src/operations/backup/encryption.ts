/**
 * Encrypted backups. Each has a random key in its catalog, encrypted by AES-256-GCM under a scrypt key of the
 * passphrase. Cost: https://cheatsheetseries.owasp.org/cheatsheets/Password_Storage_Cheat_Sheet.html.
 */
import { createCipheriv, createDecipheriv, randomBytes, scrypt } from 'node:crypto'
import { type BlobBody, BlobUnreadable, streamOf } from '../../blobs/blob-store.ts'
import { piecesOf } from '../relocation/blob-copier.ts'
import type { BackupStore } from './backup-store.ts'
import { CHUNK, decrypted, HEAD, type Role, SealBroken, SealingWriter, TAG } from './sealed-contents.ts'

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
