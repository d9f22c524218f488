import * as z from 'zod/mini'
import { dataOf } from '../../src/contract/fields.ts'
import { fetchJson } from './fetch-json.ts'

const options = dataOf(
  z.custom<PublicKeyCredentialRequestOptionsJSON>((value) => typeof value === 'object' && value !== null),
)

/** Throws RequestFailure, and the browser's error for a ceremony that was cancelled or failed. */
export async function askForPasskey(): Promise<ReturnType<PublicKeyCredential['toJSON']> | null> {
  const { data } = await fetchJson(options, '/api/v1/session/passkey/options', { method: 'POST' })
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(data)
  const credential = await navigator.credentials.get({ publicKey })
  return credential instanceof PublicKeyCredential ? credential.toJSON() : null
}
