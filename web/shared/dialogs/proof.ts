import { done } from '../../../src/contract/fields.ts'
import { type Session, sessionAnswer } from '../../../src/contract/session.ts'
import { RequestFailure } from '../../uploads/answers.ts'
import { fetchJson, jsonRequest } from '../fetch-json.ts'
import { askForPasskey } from '../passkeys.ts'

export type Ways = Pick<Session, 'username' | 'has_password' | 'has_passkeys' | 'oidc' | 'proved_until'>

/** All functions throw RequestFailure. */
export async function fetchWays(): Promise<Ways> {
  return (await fetchJson(sessionAnswer, '/api/v1/session')).data
}

export async function proveByPassword(password: string): Promise<void> {
  await fetchJson(done, '/api/v1/session/proof', jsonRequest('POST', { password }))
}

/** False when the browser provided no passkey. */
export async function proveByPasskey(): Promise<boolean> {
  const answer = await askForPasskey().catch((error: unknown) => {
    if (error instanceof RequestFailure) throw error
    return null
  })
  if (answer === null) return false
  await fetchJson(done, '/api/v1/session/proof/passkey', jsonRequest('POST', { answer }))
  return true
}
