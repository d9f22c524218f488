import * as z from 'zod/mini'
import { SCOPES } from '../domain/access.ts'
import { component, dataOf, described, extended, optionalTimestamp, timestampField } from './fields.ts'

export const apiKey = component(
  'ApiKey',
  z.object({
    id: z.int(),
    name: z.string(),
    prefix: described(z.string(), { description: 'The first characters of the key, to tell which it is' }),
    scopes: z.array(z.enum(SCOPES)),
    folder: described(z.nullable(z.string()), {
      description: 'The one folder it is good for, with all below it',
    }),
    folder_name: described(z.nullable(z.string()), {
      description: 'null also when that folder was deleted',
    }),
    expires_at: optionalTimestamp,
    created_at: timestampField,
    last_used_at: optionalTimestamp,
  }),
)
export type ApiKey = z.infer<typeof apiKey>

export const keysAnswer = dataOf(z.array(apiKey))

/** The only answer with the secret. */
const newApiKey = component('NewApiKey', extended(apiKey, { api_key: z.string() }))
export type NewApiKey = z.infer<typeof newApiKey>

export const keyCreatedAnswer = z.object({
  success: z.literal(true),
  message: z.string(),
  data: newApiKey,
})
