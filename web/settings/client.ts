import * as z from 'zod/mini'
import {
  type Account,
  accountAnswer,
  accountChangedAnswer,
  type DayOfRequests,
  type MailSettings,
  mailAnswer,
  requestsAnswer,
  type StorageShares,
  storageAnswer,
} from '../../src/contract/account.ts'
import { dataOf, done } from '../../src/contract/fields.ts'
import { type ApiKey, keyCreatedAnswer, keysAnswer, type NewApiKey } from '../../src/contract/keys.ts'
import {
  type NewSecondFactor,
  newSecondFactorAnswer,
  type Passkey,
  passkeysAnswer,
  recoveryCodesAnswer,
  type Session,
  type SignedInBrowser,
  sessionAnswer,
  sessionsAnswer,
  sessionsEndedAnswer,
} from '../../src/contract/session.ts'
import type { Scope } from '../../src/domain/scopes.ts'
import { askServer, sending } from '../shared/ask.ts'

/** Every call that the settings make. All throw RequestFailure. `password`: the present one, null for who has none. */

export async function fetchOwnAccount(): Promise<Account> {
  return (await askServer(accountAnswer, '/api/v1/account')).data
}

export async function fetchStorage(): Promise<StorageShares> {
  return (await askServer(storageAnswer, '/api/v1/account/storage')).data
}

/** The oldest first; the last one is today. */
export async function fetchRequests(): Promise<readonly DayOfRequests[]> {
  return (await askServer(requestsAnswer, '/api/v1/account/requests')).data.days
}

export async function fetchKeys(): Promise<readonly ApiKey[]> {
  return (await askServer(keysAnswer, '/api/v1/keys')).data
}

export interface WantedKeyFields {
  readonly name: string
  readonly scopes: readonly Scope[]
  /** An identifier, or null for all folders. */
  readonly folder: string | null
  /** ISO 8601, or null for a key without an end. */
  readonly expires_at: string | null
}

export async function createKey(key: WantedKeyFields): Promise<NewApiKey> {
  return (await askServer(keyCreatedAnswer, '/api/v1/key', sending('POST', key))).data
}

export async function revokeKey({ id }: ApiKey): Promise<void> {
  await askServer(done, `/api/v1/key/${id}`, { method: 'DELETE' })
}

export async function fetchSession(): Promise<Session> {
  return (await askServer(sessionAnswer, '/api/v1/session')).data
}

export async function changePassword(password: string | null, next: string): Promise<void> {
  await askServer(accountChangedAnswer, '/api/v1/account', sending('PATCH', { password, new_password: next }))
}

/** Returns the name as it is now. */
export async function changeUsername(password: string | null, name: string): Promise<string> {
  return (
    await askServer(accountChangedAnswer, '/api/v1/account', sending('PATCH', { password, username: name }))
  ).data.username
}

export async function removeOwnAccount(password: string | null, name: string): Promise<void> {
  await askServer(done, '/api/v1/account/delete', sending('POST', { password, username: name }))
}

export async function fetchMail(): Promise<MailSettings> {
  return (await askServer(mailAnswer, '/api/v1/account/mail')).data
}

/** It counts once somebody has used the link that is sent there. */
export async function setMailAddress(password: string | null, address: string): Promise<void> {
  await askServer(done, '/api/v1/account/mail', sending('POST', { password, address }))
}

export type MailWishes = Partial<Pick<MailSettings, 'warnings' | 'downloads'>>

export async function changeMailWishes(wishes: MailWishes): Promise<void> {
  await askServer(done, '/api/v1/account/mail', sending('PATCH', wishes))
}

export async function removeMailAddress(password: string | null): Promise<void> {
  await askServer(done, '/api/v1/account/mail/delete', sending('POST', { password }))
}

export async function fetchPasskeys(): Promise<readonly Passkey[]> {
  return (await askServer(passkeysAnswer, '/api/v1/passkeys')).data
}

/** As browsers read it. */
const passkeyOptions = dataOf(
  z.custom<PublicKeyCredentialCreationOptionsJSON>((value) => typeof value === 'object' && value !== null),
)

/** What the browser is to make a passkey by. */
export async function beginPasskey(password: string | null): Promise<PublicKeyCredentialCreationOptions> {
  const { data } = await askServer(passkeyOptions, '/api/v1/passkeys/options', sending('POST', { password }))
  return PublicKeyCredential.parseCreationOptionsFromJSON(data)
}

export async function addPasskey(name: string, answer: object): Promise<void> {
  await askServer(done, '/api/v1/passkeys', sending('POST', { name, answer }))
}

export async function renamePasskey({ id }: Passkey, name: string): Promise<void> {
  await askServer(done, `/api/v1/passkey/${id}`, sending('PATCH', { name }))
}

export async function removePasskey({ id }: Passkey): Promise<void> {
  await askServer(done, `/api/v1/passkey/${id}`, { method: 'DELETE' })
}

export async function beginCodes(password: string | null): Promise<NewSecondFactor> {
  return (await askServer(newSecondFactorAnswer, '/api/v1/account/codes', sending('POST', { password }))).data
}

export async function confirmCodes(code: string): Promise<void> {
  await askServer(done, '/api/v1/account/codes/confirm', sending('POST', { code }))
}

export async function renewRecoveryCodes(password: string | null): Promise<readonly string[]> {
  const path = '/api/v1/account/codes/recovery'
  return (await askServer(recoveryCodesAnswer, path, sending('POST', { password }))).data.recovery_codes
}

export async function endCodes(password: string | null): Promise<void> {
  await askServer(done, '/api/v1/account/codes/delete', sending('POST', { password }))
}

export async function fetchSessions(): Promise<readonly SignedInBrowser[]> {
  return (await askServer(sessionsAnswer, '/api/v1/sessions')).data
}

export async function endOneSession({ id }: SignedInBrowser): Promise<void> {
  await askServer(done, `/api/v1/session/${id}`, { method: 'DELETE' })
}

/** Returns how many there were. */
export async function endOtherSessions(): Promise<number> {
  return (await askServer(sessionsEndedAnswer, '/api/v1/sessions', { method: 'DELETE' })).data.ended
}
