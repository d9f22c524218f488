import type { Sha256 } from '../domain/ids.ts'

/** Stored hash of tokens, keys and upload names: with 128 random bits or more, plain SHA-256 suffices. */
export function hashToken(token: string): Sha256 {
  return Bun.SHA256.hash(token, 'hex') as Sha256
}
