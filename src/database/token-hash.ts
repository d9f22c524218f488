import type { Sha256 } from '../domain/ids.ts'

/** What stands in the database for a secret that somebody shows us: of 128 random bits and more it tells nothing. */
export function hashToken(token: string): Sha256 {
  return Bun.SHA256.hash(token, 'hex') as Sha256
}
