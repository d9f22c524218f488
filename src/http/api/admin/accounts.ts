import { z } from '@hono/zod-openapi'
import { ACCOUNT_SORTS, ACCOUNT_STATES } from '../../../domain/administration.ts'
import { timestamp } from '../../../domain/clock.ts'
import type { AccountId } from '../../../domain/ids.ts'
import type { AccountInfo } from '../../../services/accounts.ts'
import type { Site } from '../../call.ts'
import { assertProved } from '../../proof.ts'
import { adminRoute } from '../../route.ts'
import { done, rowId } from '../answers.ts'
import { dataOf, optionalTimestamp, timestampField } from '../fields.ts'
import { listOf, optionalTime, pageOf, pageQuery, sizeField, toList } from './fields.ts'

const account = z
  .object({
    id: z.number().int(),
    username: z.string(),
    created_at: timestampField,
    disabled_at: optionalTimestamp,
    is_admin: z.boolean(),
    has_codes: z.boolean().openapi({ description: 'Whether signing in takes a code besides' }),
    storage_used: sizeField,
    storage_in_bin: sizeField,
    storage_limit: sizeField.openapi({ description: 'The quota, or without one what the setting says' }),
    quota: sizeField.nullable(),
    files_count: z.number().int(),
    folders_count: z.number().int(),
  })
  .openapi('AdminAccount')

const accountDetail = account
  .extend({
    has_password: z.boolean(),
    has_mail: z.boolean().openapi({
      description: 'Whether there is a confirmed mail address, by which a new password can be had',
    }),
    passkeys: z.number().int(),
    keys: z.number().int(),
    sessions: z.number().int(),
    last_seen_at: optionalTimestamp.openapi({ description: 'When a browser was last used, to the hour' }),
    api_requests_today: z.number().int(),
  })
  .openapi('AdminAccountDetail')

function toAccount({ config }: Site, info: AccountInfo): z.infer<typeof account> {
  return {
    id: info.id,
    username: info.username,
    created_at: timestamp(info.createdAt),
    disabled_at: optionalTime(info.disabledAt),
    is_admin: info.isAdmin,
    has_codes: info.hasCodes,
    storage_used: info.storageUsed,
    storage_in_bin: info.storageInBin,
    storage_limit: info.quota ?? config.storageLimit,
    quota: info.quota,
    files_count: info.filesCount,
    folders_count: info.foldersCount,
  }
}

const params = z.object({ id: rowId })

export const listAccounts = adminRoute({
  method: 'get',
  path: '/api/v1/admin/accounts',
  summary: 'List the accounts',
  query: z.object({
    ...pageQuery,
    search: z.string().max(100).optional().openapi({ description: 'Part of the name' }),
    state: z.enum(ACCOUNT_STATES).optional(),
    sort: z.enum(ACCOUNT_SORTS).optional(),
    order: z.enum(['asc', 'desc']).optional(),
  }),
  answer: listOf(account),
  errors: [400],
  async handle({ call, query }) {
    const page = pageOf(query)
    const { accounts, total } = await call.site.services.accountAdministration.list({
      search: (query.search ?? '').toLowerCase(),
      state: query.state ?? 'all',
      sort: query.sort ?? 'created_at',
      order: query.order ?? 'desc',
      offset: (page.page - 1) * page.perPage,
      limit: page.perPage,
    })
    return toList(
      page,
      accounts.map((info) => toAccount(call.site, info)),
      total,
    )
  },
})

export const getAnyAccount = adminRoute({
  method: 'get',
  path: '/api/v1/admin/account/{id}',
  summary: 'Read an account, and how its owner signs in',
  params,
  answer: dataOf(accountDetail),
  errors: [404],
  async handle({ call, params }) {
    const { accountAdministration, usage } = call.site.services
    const { account, ways } = await accountAdministration.get(idOf(params))
    const data: z.infer<typeof accountDetail> = {
      ...toAccount(call.site, account),
      has_password: ways.passwords > 0,
      has_mail: ways.addresses > 0,
      passkeys: ways.passkeys,
      keys: ways.keys,
      sessions: ways.sessions,
      last_seen_at: optionalTime(ways.seen_at),
      api_requests_today: await usage.requestsToday(account.id),
    }
    return { success: true, data }
  },
})

export const changeAnyAccount = adminRoute({
  method: 'patch',
  path: '/api/v1/admin/account/{id}',
  summary: 'Change the quota of an account, disable or enable it, or say whether it administers the server',
  params,
  body: z.object({
    quota: z
      .number('must be a number of bytes, or null')
      .int('must be a whole number of bytes')
      .min(0, 'must not be negative')
      .max(Number.MAX_SAFE_INTEGER, 'must be a number that can be counted')
      .nullish()
      .openapi({ description: 'Bytes; null: as much as the setting says. What is there already stays' }),
    disabled: z.boolean('must be true or false').optional(),
    is_admin: z.boolean('must be true or false').optional(),
  }),
  answer: dataOf(account),
  errors: [400, 404, 409, 413],
  async handle({ call, caller, params, body }) {
    const { quota, disabled, is_admin: isAdmin } = body
    if (isAdmin === true) assertProved(call)
    const change = { quota, disabled, isAdmin }
    const info = await call.site.services.accountAdministration.change(caller, idOf(params), change)
    return { success: true, data: toAccount(call.site, info) }
  },
})

export const resetAccount = adminRoute({
  method: 'post',
  path: '/api/v1/admin/account/{id}/reset',
  summary: 'Make a link that sets the password of an account; the old one and all sessions end',
  params,
  body: z.object({
    second_factor: z
      .boolean('must be true or false')
      .optional()
      .openapi({ description: 'Whether codes and passkeys are turned off as well' }),
    mail_address: z
      .boolean('must be true or false')
      .optional()
      .openapi({ description: 'Whether the mail address is removed as well' }),
  }),
  answer: dataOf(z.object({ url: z.string(), expires_at: timestampField })),
  errors: [400, 404, 413],
  async handle({ call, caller, params, body }) {
    const { accountAdministration } = call.site.services
    assertProved(call)
    const link = await accountAdministration.reset(caller, idOf(params), {
      secondFactor: body.second_factor === true,
      mailAddress: body.mail_address === true,
    })
    const data = { url: call.site.publicUrl + link.path, expires_at: timestamp(link.expiresAt) }
    return { success: true, data }
  },
})

export const removeAnyAccount = adminRoute({
  method: 'post',
  path: '/api/v1/admin/account/{id}/delete',
  summary: 'Delete an account with every file in it, for good',
  params,
  body: z.object({ username: z.string('must be the name of the account, to be sure').max(100) }),
  answer: done,
  errors: [400, 404, 409, 413],
  async handle({ call, caller, params, body }) {
    assertProved(call)
    await call.site.services.accountAdministration.remove(caller, idOf(params), body.username)
    return { success: true }
  },
})

/** What is no number is no account's. */
function idOf(params: Readonly<Record<string, string>>): AccountId {
  return (/^\d{1,15}$/.test(params.id ?? '') ? Number(params.id) : 0) as AccountId
}
