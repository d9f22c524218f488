import * as z from 'zod/mini'
import { DOWNLOAD_MAILS } from '../domain/event-kinds.ts'
import { STORAGE_KINDS } from '../domain/storage.ts'
import { component, dataOf, dayField, described, timestampField } from './fields.ts'

export const displayNameField = described(z.nullable(z.string()), {
  description: 'What pages call the account to visitors; null: nothing',
  example: 'Ada Lovelace',
})

export const account = component(
  'Account',
  z.object({
    id: z.int(),
    username: z.string(),
    display_name: displayNameField,
    storage_used: described(z.int(), { description: 'Bytes, those in the bin included' }),
    storage_in_bin: z.int(),
    storage_limit: z.int(),
    files_count: z.int(),
    folders_count: z.int(),
    api_requests_today: z.int(),
  }),
)
export type Account = z.infer<typeof account>

export const accountAnswer = dataOf(account)

export const accountChangedAnswer = dataOf(z.object({ username: z.string(), display_name: displayNameField }))
export type AccountChangedAnswer = z.infer<typeof accountChangedAnswer>

const weight = z.object({ files: z.int(), bytes: z.int() })

export const storageShares = component(
  'StorageShares',
  z.object({
    counted_at: described(timestampField, {
      description: 'When `kinds` were counted: up to a minute ago where there are many files',
    }),
    kinds: described(z.array(z.extend(weight, { kind: z.enum(STORAGE_KINDS) })), {
      description: 'All live files by what they are',
    }),
    folders: described(z.array(z.extend(weight, { identifier: z.string(), name: z.string() })), {
      description: 'The heaviest folders at top level, ten at most, with all below them',
    }),
    other_folders: described(weight, { description: 'All other folders at top level together' }),
    top_level: described(weight, { description: 'What is in no folder' }),
  }),
)
export type StorageShares = z.infer<typeof storageShares>

export const storageAnswer = dataOf(storageShares)

const dayOfRequests = z.object({ day: dayField, requests: z.int() })
export type DayOfRequests = z.infer<typeof dayOfRequests>

export const requestsAnswer = dataOf(
  component(
    'Requests',
    z.object({
      days: described(z.array(dayOfRequests), {
        description: 'The last 30 days in UTC, the oldest first; the last one is today',
      }),
    }),
  ),
)

export const mailSettings = component(
  'MailSettings',
  z.object({
    is_on: described(z.boolean(), { description: 'Whether this server sends mail' }),
    address: described(z.nullable(z.string()), { description: 'The address that you have confirmed' }),
    pending: described(z.nullable(z.string()), { description: 'The address that waits for that' }),
    warnings: described(z.boolean(), {
      description:
        'Whether you are told before unused files go, when files are damaged, and what happened to your links',
    }),
    downloads: described(z.enum(DOWNLOAD_MAILS), {
      description:
        'Which downloads by your links you are told of: none, the first of each link, or every one, by link and with their number',
    }),
  }),
)
export type MailSettings = z.infer<typeof mailSettings>

export const mailAnswer = dataOf(mailSettings)
