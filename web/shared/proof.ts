import * as z from 'zod/mini'
import { ask, sending } from '../files/ask.ts'

const session = z.object({
  data: z.object({
    username: z.string(),
    has_password: z.boolean(),
    has_passkeys: z.boolean(),
    oidc: z.nullable(z.string()),
    proved_until: z.string(),
  }),
})

/** How the person of the session can show that it is them, and until when that was done. */
export type Ways = z.infer<typeof session>['data']

const done = z.object({ success: z.literal(true) })
const options = z.object({
  data: z.custom<PublicKeyCredentialRequestOptionsJSON>(
    (value) => typeof value === 'object' && value !== null,
  ),
})

/** All throw RequestFailure. */
export async function fetchWays(): Promise<Ways> {
  return (await ask(session, '/api/v1/session')).data
}

export async function proveByPassword(password: string): Promise<void> {
  await ask(done, '/api/v1/session/proof', sending('POST', { password }))
}

export const knowsPasskeys = () =>
  'PublicKeyCredential' in window && 'parseRequestOptionsFromJSON' in PublicKeyCredential

/** False when the browser was given no passkey. */
export async function proveByPasskey(): Promise<boolean> {
  const { data } = await ask(options, '/api/v1/session/passkey/options', { method: 'POST' })
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(data)
  const credential = await navigator.credentials.get({ publicKey }).catch(() => null)
  if (!(credential instanceof PublicKeyCredential)) return false
  await ask(done, '/api/v1/session/proof/passkey', sending('POST', { answer: credential.toJSON() }))
  return true
}
