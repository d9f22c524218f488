import type { Sha256 } from '../domain/ids.ts'

/**
 * Hash under which the database keeps a secret that we have drawn: a token, a key, an upload's name. They have at least
 * 128 random bits, so a plain SHA-256 suffices.
 */
export function hashToken(token: string): Sha256 {
  return Bun.SHA256.hash(token, 'hex') as Sha256
}
