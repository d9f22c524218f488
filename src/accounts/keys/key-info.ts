import type { KeyId } from '../../domain/ids.ts'
import { parseScopes } from '../../domain/scopes.ts'
import type { KeyRow } from './api-keys.rows.ts'
import type { KeyGrant } from './key-issuing.ts'

/** Times are milliseconds since the epoch. */
export interface KeyInfo extends KeyGrant {
  readonly id: KeyId
  readonly name: string
  /** First characters, which identify the key to its owner. */
  readonly prefix: string
  readonly folderName: string | null
  readonly createdAt: number
  readonly lastUsedAt: number | null
  readonly revokedAt: number | null
}

export function keyInfo(row: KeyRow): KeyInfo {
  return {
    id: row.id,
    name: row.name,
    prefix: row.prefix,
    scopes: parseScopes(row.scopes),
    folder: row.folder,
    folderName: row.folder_name,
    expiresAt: row.expires_at,
    createdAt: row.created_at,
    lastUsedAt: row.last_used_at,
    revokedAt: row.revoked_at,
  }
}
