import { z } from '@hono/zod-openapi'
import {
  type AdminAccount,
  type AdminAccountDetail,
  adminAccountAnswer,
  adminAccountChangedAnswer,
  adminAccountsAnswer,
  oneTimeLinkAnswer,
} from '../contract/administration.ts'
import { done } from '../contract/fields.ts'
import { ACCOUNT_SORTS, ACCOUNT_STATES, MOST_INACTIVE_DAYS } from '../domain/account.ts'
import { optionalTime, timestamp } from '../domain/clock.ts'
import type { AccountId } from '../domain/ids.ts'
import type { FilesModule } from '../files/files.module.ts'
import type { Site } from '../server/call.ts'
import { adminEndpoint } from '../server/endpoint.ts'
import {
  nothingToChange,
  pageFields,
  pageQuery,
  parseRowId,
  rowId,
  toList,
} from '../server/requests/fields.ts'
import type { AccountsModule } from './accounts.module.ts'
import type { AccountInfo } from './accounts.ts'
import { assertRecentAuthentication } from './sign-in/reauthentication.ts'
import type { SignInModule } from './sign-in.module.ts'

function toAccount(
  { config }: Site,
  { inactivity }: Pick<FilesModule, 'inactivity'>,
  info: AccountInfo,
): AdminAccount {
  return {
    id: info.id,
    username: info.username,
    display_name: info.displayName,
    created_at: timestamp(info.createdAt),
    disabled_at: optionalTime(info.disabledAt),
    is_admin: info.isAdmin,
    has_codes: info.hasCodes,
    storage_used: info.storageUsed,
    storage_in_bin: info.storageInBin,
    storage_limit: info.quota ?? config.storageLimit,
    quota: info.quota,
    inactive_days: info.inactiveDays,
    expires_after_days: inactivity.accounts(info.inactiveDays)?.days ?? null,
    files_count: info.filesCount,
    folders_count: info.foldersCount,
  }
}

const params = z.object({ id: rowId })
const idOf = (text: string | undefined) => parseRowId<AccountId>(text)

export const listAccountsEndpoint = adminEndpoint({
  summary: 'List accounts',
  query: z.object({
    ...pageQuery,
    search: z.string().max(100).optional().openapi({ description: 'Part of the name' }),
    state: z.enum(ACCOUNT_STATES).optional(),
    sort: z.enum(ACCOUNT_SORTS).optional(),
    order: z.enum(['asc', 'desc']).optional(),
  }),
  answer: adminAccountsAnswer,
  errors: [400],
  async handle({ call, query }, { accounts, files }: { accounts: AccountsModule; files: FilesModule }) {
    const page = pageFields(query)
    const { accounts: found, total } = await accounts.administration.list({
      search: (query.search ?? '').toLowerCase(),
      state: query.state ?? 'all',
      sort: query.sort ?? 'created_at',
      order: query.order ?? 'desc',
      offset: (page.page - 1) * page.perPage,
      limit: page.perPage,
    })
    return toList(
      page,
      found.map((info) => toAccount(call.site, files, info)),
      total,
    )
  },
})

export const getAnyAccountEndpoint = adminEndpoint({
  summary: 'Get an account',
  description: 'With how its owner signs in.',
  params,
  answer: adminAccountAnswer,
  errors: [404],
  async handle({ call, params }, { accounts, files }: { accounts: AccountsModule; files: FilesModule }) {
    const { account, ways } = await accounts.administration.get(idOf(params.id))
    const data: AdminAccountDetail = {
      ...toAccount(call.site, files, account),
      has_password: ways.passwords > 0,
      has_mail: ways.addresses > 0,
      passkeys: ways.passkeys,
      keys: ways.keys,
      sessions: ways.sessions,
      last_seen_at: optionalTime(ways.seen_at),
      api_requests_today: await files.usage.requestsToday(account.id),
    }
    return { success: true, data }
  },
})

export const changeAnyAccountEndpoint = adminEndpoint({
  summary: 'Update an account',
  description:
    'Its quota, how long its files stay without use, whether it is disabled, and whether it administers the server.',
  params,
  body: z.object({
    quota: z
      .number('must be a number of bytes, or null')
      .int('must be a whole number of bytes')
      .min(0, 'must not be negative')
      .max(Number.MAX_SAFE_INTEGER, 'must be a number that can be counted')
      .nullish()
      .openapi({ description: 'Bytes; null: as much as the setting says. What is there already stays' }),
    inactive_days: z
      .number('must be a number of days, or null')
      .int('must be a whole number of days')
      .min(0, 'must not be negative')
      .max(MOST_INACTIVE_DAYS, `must be at most ${MOST_INACTIVE_DAYS}`)
      .nullish()
      .openapi({
        description:
          'Days without a view or a download after which a file is deleted; 0: never; null: as the setting says',
        example: 90,
      }),
    disabled: z.boolean('must be true or false').optional(),
    is_admin: z.boolean('must be true or false').optional(),
  }),
  answer: adminAccountChangedAnswer,
  errors: [400, 404, 409, 413],
  async handle(
    { call, caller, params, body },
    { accounts, files, signIn }: { accounts: AccountsModule; files: FilesModule; signIn: SignInModule },
  ) {
    const { quota, inactive_days: inactiveDays, disabled, is_admin: isAdmin } = body
    if (Object.keys(body).length === 0) throw nothingToChange()
    if (isAdmin === true) assertRecentAuthentication(call, signIn.reauthentication)
    const change = { quota, inactiveDays, disabled, isAdmin }
    const info = await accounts.administration.change(caller, idOf(params.id), change)
    return { success: true, data: toAccount(call.site, files, info) }
  },
})

export const resetAccountEndpoint = adminEndpoint({
  summary: 'Reset the password of an account',
  description: 'Makes a link that sets a new one. The old one and all sessions end.',
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
  answer: oneTimeLinkAnswer,
  errors: [400, 404, 413],
  async handle(
    { call, caller, params, body },
    { accounts, signIn }: { accounts: AccountsModule; signIn: SignInModule },
  ) {
    assertRecentAuthentication(call, signIn.reauthentication)
    const link = await accounts.administration.reset(caller, idOf(params.id), {
      secondFactor: body.second_factor === true,
      mailAddress: body.mail_address === true,
    })
    const data = { url: call.site.publicUrl + link.path, expires_at: timestamp(link.expiresAt) }
    return { success: true, data }
  },
})

export const removeAnyAccountEndpoint = adminEndpoint({
  summary: 'Delete an account',
  description: 'With every file in it, for good.',
  params,
  body: z.object({ username: z.string('must be the name of the account, to be sure').max(100) }),
  answer: done,
  errors: [400, 404, 409, 413],
  async handle(
    { call, caller, params, body },
    { accounts, signIn }: { accounts: AccountsModule; signIn: SignInModule },
  ) {
    assertRecentAuthentication(call, signIn.reauthentication)
    await accounts.administration.remove(caller, idOf(params.id), body.username)
    return { success: true }
  },
})
