import { done } from '../../src/contract/fields.ts'
import { fetchJson, jsonRequest } from '../shared/fetch-json.ts'
import { askForPasskey } from '../shared/passkeys.ts'

/** False when the browser provided no passkey. Throws what `askForPasskey` throws. */
export async function signInByPasskey(): Promise<boolean> {
  const answer = await askForPasskey()
  if (answer === null) return false
  await fetchJson(done, '/api/v1/session/passkey', jsonRequest('POST', { answer }))
  return true
}
