import { createHash } from 'node:crypto'
import { xchacha20poly1305 } from '@noble/ciphers/chacha.js'
import type { Random } from '../../domain/random.ts'

export interface SecretBox {
  seal(text: string): string
  /** Throws for text that was altered or encrypted with another secret. */
  open(sealed: string): string
}

const NONCE = 24

/**
 * XChaCha20-Poly1305 with the SHA-256 of the secret as its key; output is nonce, ciphertext and tag in
 * hexadecimal. The format must not change: existing rows use it.
 */
export function createSecretBox(secret: string, random: Random): SecretBox {
  const key = createHash('sha256').update(secret).digest()
  return {
    seal(text) {
      const nonce = random(NONCE)
      const sealed = xchacha20poly1305(key, nonce).encrypt(Buffer.from(text))
      return Buffer.concat([nonce, sealed]).toString('hex')
    },
    open(sealed) {
      const bytes = Buffer.from(sealed, 'hex')
      const opened = xchacha20poly1305(key, bytes.subarray(0, NONCE)).decrypt(bytes.subarray(NONCE))
      return Buffer.from(opened).toString()
    },
  }
}
