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
import type { Scope } from '../../src/domain/access.ts'
import { fetchJson, jsonRequest } from '../shared/fetch-json.ts'

/** Every call that the settings make. All throw RequestFailure. `password`: the present one, null for who has none. */

export async function fetchOwnAccount(): Promise<Account> {
  return (await fetchJson(accountAnswer, '/api/v1/account')).data
}

export async function fetchStorage(): Promise<StorageShares> {
  return (await fetchJson(storageAnswer, '/api/v1/account/storage')).data
}

/** The oldest first; the last one is today. */
export async function fetchRequests(): Promise<readonly DayOfRequests[]> {
  return (await fetchJson(requestsAnswer, '/api/v1/account/requests')).data.days
}

export async function fetchKeys(): Promise<readonly ApiKey[]> {
  return (await fetchJson(keysAnswer, '/api/v1/keys')).data
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
  return (await fetchJson(keyCreatedAnswer, '/api/v1/key', jsonRequest('POST', key))).data
}

export async function revokeKey({ id }: ApiKey): Promise<void> {
  await fetchJson(done, `/api/v1/key/${id}`, { method: 'DELETE' })
}

export async function fetchSession(): Promise<Session> {
  return (await fetchJson(sessionAnswer, '/api/v1/session')).data
}

export async function changePassword(password: string | null, next: string): Promise<void> {
  await fetchJson(
    accountChangedAnswer,
    '/api/v1/account',
    jsonRequest('PATCH', { password, new_password: next }),
  )
}

/** Returns the name as it is now. */
export async function changeUsername(password: string | null, name: string): Promise<string> {
  return (
    await fetchJson(
      accountChangedAnswer,
      '/api/v1/account',
      jsonRequest('PATCH', { password, username: name }),
    )
  ).data.username
}

/** Returns the display name that is stored; null for none. */
export async function changeDisplayName(name: string): Promise<string | null> {
  return (
    await fetchJson(accountChangedAnswer, '/api/v1/account', jsonRequest('PATCH', { display_name: name }))
  ).data.display_name
}

export async function removeOwnAccount(password: string | null, name: string): Promise<void> {
  await fetchJson(done, '/api/v1/account/delete', jsonRequest('POST', { password, username: name }))
}

export async function fetchMail(): Promise<MailSettings> {
  return (await fetchJson(mailAnswer, '/api/v1/account/mail')).data
}

/** It counts once somebody has used the link that is sent there. */
export async function setMailAddress(password: string | null, address: string): Promise<void> {
  await fetchJson(done, '/api/v1/account/mail', jsonRequest('POST', { password, address }))
}

export type MailWishes = Partial<Pick<MailSettings, 'warnings' | 'downloads'>>

export async function changeMailWishes(wishes: MailWishes): Promise<void> {
  await fetchJson(done, '/api/v1/account/mail', jsonRequest('PATCH', wishes))
}

export async function removeMailAddress(password: string | null): Promise<void> {
  await fetchJson(done, '/api/v1/account/mail/delete', jsonRequest('POST', { password }))
}

export async function fetchPasskeys(): Promise<readonly Passkey[]> {
  return (await fetchJson(passkeysAnswer, '/api/v1/passkeys')).data
}

/** As browsers read it. */
const passkeyOptions = dataOf(
  z.custom<PublicKeyCredentialCreationOptionsJSON>((value) => typeof value === 'object' && value !== null),
)

/** What the browser is to make a passkey by. */
export async function beginPasskey(password: string | null): Promise<PublicKeyCredentialCreationOptions> {
  const { data } = await fetchJson(
    passkeyOptions,
    '/api/v1/passkeys/options',
    jsonRequest('POST', { password }),
  )
  return PublicKeyCredential.parseCreationOptionsFromJSON(data)
}

export async function addPasskey(name: string, answer: object): Promise<void> {
  await fetchJson(done, '/api/v1/passkeys', jsonRequest('POST', { name, answer }))
}

export async function renamePasskey({ id }: Passkey, name: string): Promise<void> {
  await fetchJson(done, `/api/v1/passkey/${id}`, jsonRequest('PATCH', { name }))
}

export async function removePasskey({ id }: Passkey): Promise<void> {
  await fetchJson(done, `/api/v1/passkey/${id}`, { method: 'DELETE' })
}

export async function beginCodes(password: string | null): Promise<NewSecondFactor> {
  return (await fetchJson(newSecondFactorAnswer, '/api/v1/account/codes', jsonRequest('POST', { password })))
    .data
}

export async function confirmCodes(code: string): Promise<void> {
  await fetchJson(done, '/api/v1/account/codes/confirm', jsonRequest('POST', { code }))
}

export async function renewRecoveryCodes(password: string | null): Promise<readonly string[]> {
  const path = '/api/v1/account/codes/recovery'
  return (await fetchJson(recoveryCodesAnswer, path, jsonRequest('POST', { password }))).data.recovery_codes
}

export async function endCodes(password: string | null): Promise<void> {
  await fetchJson(done, '/api/v1/account/codes/delete', jsonRequest('POST', { password }))
}

export async function fetchSessions(): Promise<readonly SignedInBrowser[]> {
  return (await fetchJson(sessionsAnswer, '/api/v1/sessions')).data
}

export async function endOneSession({ id }: SignedInBrowser): Promise<void> {
  await fetchJson(done, `/api/v1/session/${id}`, { method: 'DELETE' })
}

/** Returns how many there were. */
export async function endOtherSessions(): Promise<number> {
  return (await fetchJson(sessionsEndedAnswer, '/api/v1/sessions', { method: 'DELETE' })).data.ended
}
