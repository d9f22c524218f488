import { z } from '@hono/zod-openapi'
import { timestamp } from '../../domain/clock.ts'
import { type KeyId, parseFolderPlace } from '../../domain/ids.ts'
import { SCOPES } from '../../domain/scopes.ts'
import type { KeyInfo } from '../../services/key-info.ts'
import { assertProved } from '../proof.ts'
import { keyedRoute } from '../route.ts'
import { rowNumber } from './answers.ts'
import { dataOf, optionalTimestamp, timestampField } from './fields.ts'

const scopes = z
  .array(z.enum(SCOPES, `must be of ${SCOPES.join(', ')}`), `must be a list of ${SCOPES.join(', ')}`)
  .min(1, 'must hold at least one scope')

const key = z
  .object({
    id: z.number().int(),
    name: z.string(),
    prefix: z.string().openapi({ description: 'The first characters of the key, to tell which it is' }),
    scopes: z.array(z.enum(SCOPES)),
    folder: z
      .string()
      .nullable()
      .openapi({ description: 'The one folder it is good for, with all below it' }),
    folder_name: z.string().nullable().openapi({ description: 'null also when that folder was deleted' }),
    expires_at: optionalTimestamp,
    created_at: timestampField,
    last_used_at: optionalTimestamp,
  })
  .openapi('ApiKey')

function toKey(info: Omit<KeyInfo, 'revokedAt'>): z.infer<typeof key> {
  return {
    id: info.id,
    name: info.name,
    prefix: info.prefix,
    scopes: [...info.scopes],
    folder: info.folder,
    folder_name: info.folderName,
    expires_at: optionalTime(info.expiresAt),
    created_at: timestamp(info.createdAt),
    last_used_at: optionalTime(info.lastUsedAt),
  }
}

const optionalTime = (time: number | null) => (time === null ? null : timestamp(time))

export const listKeys = keyedRoute({
  method: 'get',
  path: '/api/v1/keys',
  need: 'manage',
  summary: 'List the API keys of your account that can do no more than yours, oldest first',
  tag: 'Account',
  answer: dataOf(z.array(key)),
  async handle({ call, caller }) {
    const keys = await call.site.services.ownKeys.list(caller)
    return { success: true, data: keys.map(toKey) }
  },
})

export const createKey = keyedRoute({
  method: 'post',
  path: '/api/v1/key',
  need: 'manage',
  summary: 'Create an API key that can do no more than yours; it is shown this once',
  tag: 'Account',
  body: z.object({
    name: z.string('must be the name of the key'),
    scopes,
    folder: z.string('must be a folder identifier or "root"').nullish().openapi({
      description:
        'The one folder it is good for; "root", empty, null or missing mean all that your key reaches',
    }),
    expires_at: z.iso
      .datetime({ offset: true, error: 'must be a time such as 2027-01-31T12:00:00Z' })
      .nullish()
      .openapi({ description: 'null or missing: with your key, or never' }),
  }),
  status: 201,
  answer: z.object({
    success: z.literal(true),
    message: z.string(),
    data: key.extend({ api_key: z.string() }).openapi('NewApiKey'),
  }),
  errors: [400, 404, 413],
  async handle({ call, caller, body }) {
    if (caller.by.kind === 'session') assertProved(call)
    const { apiKey, ...made } = await call.site.services.ownKeys.add(caller, {
      name: body.name,
      scopes: body.scopes,
      folder: parseFolderPlace(body.folder),
      expiresAt: typeof body.expires_at === 'string' ? Date.parse(body.expires_at) : null,
    })
    const data = { ...toKey({ ...made, lastUsedAt: null }), api_key: apiKey }
    return { success: true, message: 'Key created', data }
  },
})

export const revokeKey = keyedRoute({
  method: 'delete',
  path: '/api/v1/key/{id}',
  need: 'manage',
  summary: 'Refuse every request with a key from now on',
  tag: 'Account',
  params: z.object({ id: z.string().openapi({ description: 'The number of the key' }) }),
  answer: z.object({ success: z.literal(true), message: z.string() }),
  errors: [404],
  async handle({ call, caller, params }) {
    await call.site.services.ownKeys.revoke(caller, rowNumber(params.id) as KeyId)
    return { success: true, message: 'Key revoked' }
  },
})
