import type { Sha256, UploadName } from '../../domain/ids.ts'

/** What is kept of the secret in an upload's address. */
export function hashUploadName(token: UploadName): Sha256 {
  return Bun.SHA256.hash(token, 'hex') as Sha256
}
