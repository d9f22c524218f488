import { done } from '../../src/contract/fields.ts'
import { askServer, sending } from '../shared/ask.ts'
import { askForPasskey } from '../shared/passkeys.ts'

/** False when the browser provided no passkey. Throws what `askForPasskey` throws. */
export async function signInByPasskey(): Promise<boolean> {
  const answer = await askForPasskey()
  if (answer === null) return false
  await askServer(done, '/api/v1/session/passkey', sending('POST', { answer }))
  return true
}
