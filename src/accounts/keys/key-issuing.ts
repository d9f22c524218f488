import { hashToken } from '../../core/token-hash.ts'
import type { Queryable } from '../../database/database.ts'
import type { Clock } from '../../domain/clock.ts'
import { Refusal } from '../../domain/errors.ts'
import type { AccountId, FolderIdentifier, KeyId } from '../../domain/ids.ts'
import { plainName } from '../../domain/invisible-characters.ts'
import { boundedNfc } from '../../domain/measured-text.ts'
import type { Random } from '../../domain/random.ts'
import { formatScopes, parseScopes, type Scope } from '../../domain/scopes.ts'
import { insertKey } from './api-keys.rows.ts'

export interface KeyGrant {
  readonly scopes: readonly Scope[]
  readonly folder: FolderIdentifier | null
  readonly expiresAt: number | null
}

export interface KeyRequest extends KeyGrant {
  readonly name: string
}

export interface NewKey extends KeyGrant {
  readonly id: KeyId
  readonly name: string
  readonly prefix: string
  readonly createdAt: number
  /** Available only now: only its SHA-256 is stored. */
  readonly apiKey: string
}

const PREFIX_LENGTH = 11
const LONGEST_NAME = 100

/** The caller must have checked the folder. Throws Refusal INVALID_NAME or INVALID_REQUEST. */
export async function issueKey(
  db: Queryable,
  clock: Clock,
  random: Random,
  account: AccountId,
  { name, scopes: wanted, folder, expiresAt }: KeyRequest,
): Promise<NewKey> {
  const label = boundedNfc(plainName(name, 'The name of a key'), LONGEST_NAME) ?? ''
  if (label === '') {
    throw new Refusal('INVALID_NAME', `The name of a key has 1 to ${LONGEST_NAME} characters`)
  }
  const createdAt = clock.now()
  const scopes = formatScopes(wanted)
  if (scopes === '') throw new Refusal('INVALID_REQUEST', 'A key needs at least one scope')
  if (expiresAt !== null && expiresAt <= createdAt) {
    throw new Refusal('INVALID_REQUEST', 'A key must expire in the future; choose a later time')
  }
  const apiKey = `hf_${Buffer.from(random(32)).toString('base64url')}`
  const prefix = apiKey.slice(0, PREFIX_LENGTH)
  const { id } = await insertKey(db, {
    account_id: account,
    name: label,
    prefix,
    hash: hashToken(apiKey),
    created_at: createdAt,
    scopes,
    folder,
    expires_at: expiresAt,
  })
  return { id, name: label, prefix, createdAt, scopes: parseScopes(scopes), folder, expiresAt, apiKey }
}
