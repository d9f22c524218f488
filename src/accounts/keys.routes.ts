import { z } from '@hono/zod-openapi'
import { doneWithMessage } from '../contract/fields.ts'
import { type ApiKey, keyCreatedAnswer, keysAnswer } from '../contract/keys.ts'
import { type AccountCaller, mayRead } from '../core/callers.ts'
import { SCOPES } from '../domain/access.ts'
import { optionalTime, timestamp } from '../domain/clock.ts'
import { type KeyId, parseFolderPlace } from '../domain/ids.ts'
import { keyedEndpoint } from '../server/endpoint.ts'
import { bodyTime, parseRowId } from '../server/requests/fields.ts'
import type { AccountsModule } from './accounts.module.ts'
import type { KeyInfo } from './keys.ts'
import { assertRecentAuthentication } from './sign-in/reauthentication.ts'
import type { SignInModule } from './sign-in.module.ts'

const scopes = z
  .array(z.enum(SCOPES, `must be of ${SCOPES.join(', ')}`), `must be a list of ${SCOPES.join(', ')}`)
  .min(1, 'must hold at least one scope')

function toKey(caller: AccountCaller, info: Omit<KeyInfo, 'revokedAt'>): ApiKey {
  return {
    id: info.id,
    name: info.name,
    prefix: info.prefix,
    scopes: [...info.scopes],
    folder: info.folder,
    folder_name: mayRead(caller) ? info.folderName : null,
    expires_at: optionalTime(info.expiresAt),
    created_at: timestamp(info.createdAt),
    last_used_at: optionalTime(info.lastUsedAt),
  }
}

export const listKeysEndpoint = keyedEndpoint({
  summary: 'List API keys',
  description:
    'Those of your account that can do no more than yours, oldest first. A key without "read" is not told of keys for other folders.',
  tag: 'Account',
  answer: keysAnswer,
  async handle({ caller }, { accounts }: { accounts: AccountsModule }) {
    const keys = await accounts.ownKeys.list(caller)
    // A public folder opens by its identifier.
    const shown = keys.filter(({ folder }) => mayRead(caller) || folder === caller.within)
    return { success: true, data: shown.map((key) => toKey(caller, key)) }
  },
})

export const createKeyEndpoint = keyedEndpoint({
  summary: 'Create an API key',
  description: 'It can do no more than yours, and is shown this once.',
  tag: 'Account',
  body: z.object({
    name: z.string('must be the name of the key'),
    scopes,
    folder: z.string('must be a folder identifier or "root"').nullish().openapi({
      description:
        'The one folder it is good for; "root", empty, null or missing mean all that your key reaches',
    }),
    expires_at: bodyTime.nullish().openapi({ description: 'null or missing: with your key, or never' }),
  }),
  status: 201,
  answer: keyCreatedAnswer,
  errors: [400, 404, 413],
  async handle(
    { call, caller, body },
    { accounts, signIn }: { accounts: AccountsModule; signIn: SignInModule },
  ) {
    if (caller.by.kind === 'session') assertRecentAuthentication(call, signIn.reauthentication)
    const { apiKey, ...made } = await accounts.ownKeys.add(caller, {
      name: body.name,
      scopes: body.scopes,
      folder: parseFolderPlace(body.folder),
      expiresAt: typeof body.expires_at === 'string' ? Date.parse(body.expires_at) : null,
    })
    const data = { ...toKey(caller, { ...made, lastUsedAt: null }), api_key: apiKey }
    return { success: true, message: 'Key created', data }
  },
})

export const revokeKeyEndpoint = keyedEndpoint({
  summary: 'Revoke an API key',
  description: 'At once.',
  tag: 'Account',
  params: z.object({ id: z.string().openapi({ description: 'The number of the key' }) }),
  answer: doneWithMessage,
  errors: [404],
  async handle({ caller, params }, { accounts }: { accounts: AccountsModule }) {
    await accounts.ownKeys.revoke(caller, parseRowId<KeyId>(params.id))
    return { success: true, message: 'Key revoked' }
  },
})
