import * as z from 'zod/mini'
import { displayNameField } from './account.ts'
import { component, dataOf, described, timestampField } from './fields.ts'

export const signInAnswer = dataOf(
  component(
    'SignInStep',
    z.object({
      next: described(z.enum(['signed in', 'code']), {
        description: 'Whether that was all, or the code of an app comes next',
      }),
    }),
  ),
)
export type SignInAnswer = z.infer<typeof signInAnswer>

export const session = component(
  'Session',
  z.object({
    account: z.int(),
    username: z.string(),
    display_name: displayNameField,
    is_admin: z.boolean(),
    has_password: z.boolean(),
    has_codes: described(z.boolean(), { description: 'Whether signing in takes a code besides' }),
    has_passkeys: z.boolean(),
    oidc: described(z.nullable(z.string()), {
      description: 'What the OpenID Connect server is called, where the account signs in by it',
    }),
    proved_until: described(timestampField, {
      description: 'Until when nothing asks again for the password, a passkey or the other server',
    }),
  }),
)
export type Session = z.infer<typeof session>

export const sessionAnswer = dataOf(session)

const signedInBrowser = component(
  'SignedInBrowser',
  z.object({
    id: z.int(),
    user_agent: z.nullable(z.string()),
    created_at: timestampField,
    last_used_at: described(timestampField, { description: 'To the hour' }),
    is_this: z.boolean(),
  }),
)
export type SignedInBrowser = z.infer<typeof signedInBrowser>

export const sessionsAnswer = dataOf(z.array(signedInBrowser))
export const sessionsEndedAnswer = dataOf(z.object({ ended: z.int() }))

const passkey = component(
  'Passkey',
  z.object({ id: z.int(), name: z.nullable(z.string()), created_at: timestampField }),
)
export type Passkey = z.infer<typeof passkey>

export const passkeysAnswer = dataOf(z.array(passkey))

/** Read by `parseCreationOptionsFromJSON` and `parseRequestOptionsFromJSON`. */
const passkeyOptions = component(
  'PasskeyOptions',
  described(z.looseObject({}), { description: 'As WebAuthn has it in JSON' }),
)

export const passkeyOptionsAnswer = dataOf(passkeyOptions)
export type PasskeyOptionsAnswer = z.infer<typeof passkeyOptionsAnswer>

const recoveryCodes = described(z.array(z.string()), {
  description: 'Each works once; shown only now',
})

const newSecondFactor = component(
  'NewSecondFactor',
  z.object({
    uri: described(z.string(), { description: 'For the app, as a QR code: otpauth://…' }),
    secret: described(z.string(), { description: 'In base32, to be typed' }),
    recovery_codes: recoveryCodes,
  }),
)
export type NewSecondFactor = z.infer<typeof newSecondFactor>

export const newSecondFactorAnswer = dataOf(newSecondFactor)
export const recoveryCodesAnswer = dataOf(z.object({ recovery_codes: recoveryCodes }))
