import * as z from 'zod/mini'
import { SCOPES } from '../../src/domain/scopes.ts'
import { STORAGE_KINDS } from '../../src/domain/storage-kind.ts'

/** The answers of the API, as far as the settings read them. */

export const dataOf = <Shape extends z.ZodMiniType>(shape: Shape) => z.object({ data: shape })

export const done = z.object({ success: z.literal(true) })

const accountShape = z.object({
  username: z.string(),
  storage_used: z.number(),
  storage_in_bin: z.number(),
  storage_limit: z.number(),
  files_count: z.number(),
})
export type Account = z.infer<typeof accountShape>
export const account = dataOf(accountShape)

const weight = { files: z.number(), bytes: z.number() }

const storageShape = z.object({
  kinds: z.array(z.object({ kind: z.enum(STORAGE_KINDS), ...weight })),
  folders: z.array(z.object({ identifier: z.string(), name: z.string(), ...weight })),
  other_folders: z.object(weight),
  top_level: z.object(weight),
})
export type StorageShares = z.infer<typeof storageShape>
export const storage = dataOf(storageShape)

const dayShape = z.object({ day: z.string(), requests: z.number() })
export type DayOfRequests = z.infer<typeof dayShape>
export const requests = dataOf(z.object({ days: z.array(dayShape) }))

const keyShape = z.object({
  id: z.number(),
  name: z.string(),
  prefix: z.string(),
  scopes: z.array(z.enum(SCOPES)),
  folder: z.nullable(z.string()),
  folder_name: z.nullable(z.string()),
  expires_at: z.nullable(z.string()),
  last_used_at: z.nullable(z.string()),
})
export type ApiKey = z.infer<typeof keyShape>
export type { Scope } from '../../src/domain/scopes.ts'
export const apiKeys = dataOf(z.array(keyShape))

const madeKeyShape = z.extend(keyShape, { api_key: z.string() })
export type MadeKey = z.infer<typeof madeKeyShape>
export const madeKey = dataOf(madeKeyShape)

const sessionShape = z.object({ username: z.string(), has_password: z.boolean(), has_codes: z.boolean() })
export type Session = z.infer<typeof sessionShape>
export const session = dataOf(sessionShape)

const mailShape = z.object({
  is_on: z.boolean(),
  address: z.nullable(z.string()),
  pending: z.nullable(z.string()),
  warnings: z.boolean(),
})
export type MailSettings = z.infer<typeof mailShape>
export const mail = dataOf(mailShape)

export const username = dataOf(z.object({ username: z.string() }))

const passkeyShape = z.object({ id: z.number(), name: z.nullable(z.string()), created_at: z.string() })
export type Passkey = z.infer<typeof passkeyShape>
export const passkeys = dataOf(z.array(passkeyShape))

const newCodesShape = z.object({ uri: z.string(), secret: z.string(), recovery_codes: z.array(z.string()) })
export type NewCodes = z.infer<typeof newCodesShape>
export const newCodes = dataOf(newCodesShape)

export const recoveryCodes = dataOf(z.object({ recovery_codes: z.array(z.string()) }))

const browserShape = z.object({
  id: z.number(),
  user_agent: z.nullable(z.string()),
  created_at: z.string(),
  last_used_at: z.string(),
  is_this: z.boolean(),
})
export type SignedInBrowser = z.infer<typeof browserShape>
export const sessions = dataOf(z.array(browserShape))

export const ended = dataOf(z.object({ ended: z.number() }))
