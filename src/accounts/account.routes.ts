import { z } from '@hono/zod-openapi'
import {
  type AccountChangedAnswer,
  accountAnswer,
  accountChangedAnswer,
  mailAnswer,
  requestsAnswer,
  storageAnswer,
} from '../contract/account.ts'
import { type Done, done } from '../contract/fields.ts'
import { LONGEST_DISPLAY_NAME } from '../domain/account.ts'
import { timestamp } from '../domain/clock.ts'
import { Refusal } from '../domain/errors.ts'
import { DOWNLOAD_MAILS } from '../domain/event-kinds.ts'
import type { FilesModule } from '../files/files.module.ts'
import { keyedEndpoint, sessionEndpoint } from '../server/endpoint.ts'
import { readerOf } from '../server/requests/browser.ts'
import { presentPassword } from '../server/requests/fields.ts'
import type { AccountsModule } from './accounts.module.ts'
import { jsonWithCookies } from './sign-in/sessions.ts'
import type { SignInModule } from './sign-in.module.ts'

export const getAccountEndpoint = keyedEndpoint({
  summary: 'Get your account',
  tag: 'Account',
  answer: accountAnswer,
  async handle({ call, caller }, { accounts, files }: { accounts: AccountsModule; files: FilesModule }) {
    const info = await accounts.get(caller)
    return {
      success: true,
      data: {
        id: info.id,
        username: info.username,
        display_name: info.displayName,
        storage_used: info.storageUsed,
        storage_in_bin: info.storageInBin,
        storage_limit: info.quota ?? call.site.config.storageLimit,
        files_count: info.filesCount,
        folders_count: info.foldersCount,
        api_requests_today: await files.usage.requestsToday(caller.account),
      },
    }
  },
})

export const getStorageEndpoint = keyedEndpoint({
  summary: 'Get storage usage',
  description: 'By kind and by folder, without what is in the bin.',
  tag: 'Account',
  answer: storageAnswer,
  errors: [404],
  async handle({ caller }, { files }: { files: FilesModule }) {
    const [{ at, kinds }, { heaviest, others, loose }] = await Promise.all([
      files.storageShares.byKind(caller),
      files.storageShares.byFolder(caller),
    ])
    return {
      success: true,
      data: {
        counted_at: timestamp(at),
        kinds,
        folders: heaviest,
        other_folders: others,
        top_level: loose,
      },
    }
  },
})

const DAYS = 30

export const getRequestsEndpoint = keyedEndpoint({
  summary: 'Get request counts',
  description: 'Of today and the 29 days before.',
  tag: 'Account',
  answer: requestsAnswer,
  async handle({ caller }, { files }: { files: FilesModule }) {
    return {
      success: true,
      data: { days: await files.usage.requestsByDay(caller.account, DAYS) },
    }
  },
})

export const changeAccountEndpoint = sessionEndpoint({
  summary: 'Update your account',
  description: 'The user name, the display name or the password. A new password ends all other sessions.',
  tag: 'Signing in',
  body: z.object({
    password: presentPassword,
    username: z.string('must be the new user name').max(100).optional(),
    display_name: z
      .string('must be the new display name')
      .max(1000)
      .nullable()
      .optional()
      .openapi({
        description: `What pages call you to visitors, ${LONGEST_DISPLAY_NAME} characters at most; empty or null for nothing`,
        example: 'Ada Lovelace',
      }),
    new_password: z.string('must be the new password').max(1000).optional(),
  }),
  answer: accountChangedAnswer,
  errors: [400, 409, 413],
  async handle(
    { call, caller, body },
    { accounts, signIn }: { accounts: AccountsModule; signIn: SignInModule },
  ) {
    const { password, username: name, display_name: shown, new_password: next } = body
    if (name === undefined && shown === undefined && next === undefined) {
      throw new Refusal('INVALID_REQUEST', 'Give "username", "display_name" or "new_password"')
    }
    const change = { username: name, displayName: shown, password: next }
    const { username, displayName } = await accounts.own.change(caller, password ?? null, change)
    const answer: AccountChangedAnswer = { success: true, data: { username, display_name: displayName } }
    if (next === undefined) return answer
    return jsonWithCookies(answer, await signIn.remember(call, caller.account))
  },
})

export const removeAccountEndpoint = sessionEndpoint({
  summary: 'Delete your account',
  description: 'With every file in it, for good.',
  tag: 'Signing in',
  body: z.object({
    password: presentPassword,
    username: z.string('must be your user name, to be sure').max(100),
  }),
  answer: done,
  errors: [400, 409, 413],
  async handle({ caller, body }, { accounts, signIn }: { accounts: AccountsModule; signIn: SignInModule }) {
    if (body.username.toLowerCase() !== caller.username) {
      throw new Refusal('INVALID_REQUEST', '"username": must be your own user name, to confirm')
    }
    await accounts.own.remove(caller, body.password ?? null)
    return jsonWithCookies({ success: true } satisfies Done, signIn.forget())
  },
})

export const getMailEndpoint = sessionEndpoint({
  summary: 'Get mail settings',
  description: 'Where your mail goes, and whether this server sends any.',
  tag: 'Signing in',
  answer: mailAnswer,
  async handle({ caller }, { accounts }: { accounts: AccountsModule }) {
    const { isOn, ...mail } = await accounts.mailAddresses.get(caller)
    return { success: true, data: { is_on: isOn, ...mail } }
  },
})

export const setMailAddressEndpoint = sessionEndpoint({
  summary: 'Set the mail address',
  description: 'Sends a link there. It is yours once the link is opened and confirmed.',
  tag: 'Signing in',
  body: z.object({
    address: z.string('must be a mail address').max(254),
    password: presentPassword,
  }),
  answer: done,
  errors: [400, 413],
  async handle({ call, caller, body }, { accounts }: { accounts: AccountsModule }) {
    const { language } = readerOf(call.request)
    await accounts.mailAddresses.set(caller, body.password ?? null, body.address, language)
    return { success: true }
  },
})

export const changeMailEndpoint = sessionEndpoint({
  summary: 'Update mail settings',
  description: 'Which mails about your files and links you want.',
  tag: 'Signing in',
  body: z
    .object({
      warnings: z.boolean('must be true or false').optional(),
      downloads: z.enum(DOWNLOAD_MAILS, `must be one of ${DOWNLOAD_MAILS.join(', ')}`).optional(),
    })
    .refine(({ warnings, downloads }) => warnings !== undefined || downloads !== undefined, {
      path: ['warnings'],
      message: 'give it or "downloads"',
    }),
  answer: done,
  errors: [400, 413],
  async handle({ call, caller, body }, { accounts }: { accounts: AccountsModule }) {
    const { language } = readerOf(call.request)
    await accounts.mailAddresses.setWishes(caller, body, language)
    return { success: true }
  },
})

export const removeMailEndpoint = sessionEndpoint({
  summary: 'Remove the mail address',
  description: 'No more mail is sent to you.',
  tag: 'Signing in',
  body: z.object({ password: presentPassword }),
  answer: done,
  errors: [400, 413],
  async handle({ caller, body }, { accounts }: { accounts: AccountsModule }) {
    await accounts.mailAddresses.remove(caller, body.password ?? null)
    return { success: true }
  },
})
