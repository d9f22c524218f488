import { z } from '@hono/zod-openapi'
import { timestamp } from '../../domain/clock.ts'
import { STORAGE_KINDS } from '../../domain/storage-kind.ts'
import { keyedRoute } from '../route.ts'
import { dataOf, timestampField } from './fields.ts'

const account = z
  .object({
    id: z.number().int(),
    username: z.string(),
    storage_used: z.number().int().openapi({ description: 'Bytes, those in the bin included' }),
    storage_in_bin: z.number().int(),
    storage_limit: z.number().int(),
    files_count: z.number().int(),
    folders_count: z.number().int(),
    api_requests_today: z.number().int(),
  })
  .openapi('Account')

export const getAccount = keyedRoute({
  method: 'get',
  path: '/api/v1/account',
  need: 'any',
  summary: 'Read your account',
  tag: 'Account',
  answer: dataOf(account),
  async handle({ call, caller }) {
    const { accounts, usage } = call.site.services
    const info = await accounts.get(caller)
    return {
      success: true,
      data: {
        id: info.id,
        username: info.username,
        storage_used: info.storageUsed,
        storage_in_bin: info.storageInBin,
        storage_limit: info.quota ?? call.site.config.storageLimit,
        files_count: info.filesCount,
        folders_count: info.foldersCount,
        api_requests_today: await usage.requestsToday(caller.account),
      },
    }
  },
})

const weight = z.object({ files: z.number().int(), bytes: z.number().int() })

const storage = z
  .object({
    counted_at: timestampField.openapi({
      description: 'When `kinds` were counted: up to a minute ago where there are many files',
    }),
    kinds: z.array(weight.extend({ kind: z.enum(STORAGE_KINDS) })).openapi({
      description: 'All live files by what they are',
    }),
    folders: z
      .array(weight.extend({ identifier: z.string(), name: z.string() }))
      .openapi({ description: 'The heaviest folders at top level, ten at most, with all below them' }),
    other_folders: weight.openapi({ description: 'All other folders at top level together' }),
    top_level: weight.openapi({ description: 'What is in no folder' }),
  })
  .openapi('StorageShares')

export const getStorage = keyedRoute({
  method: 'get',
  path: '/api/v1/account/storage',
  need: 'read',
  summary: 'See what takes up your storage, by kind and by folder; what is in the bin is left out',
  tag: 'Account',
  answer: dataOf(storage),
  errors: [404],
  async handle({ call, caller }) {
    const { storageShares } = call.site.services
    const [{ at, kinds }, { heaviest, others, loose }] = await Promise.all([
      storageShares.byKind(caller),
      storageShares.byFolder(caller),
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

/** Of which requests are told. */
const DAYS = 30

const requests = z
  .object({
    days: z
      .array(z.object({ day: z.iso.date(), requests: z.number().int() }))
      .openapi({ description: 'The last 30 days in UTC, the oldest first; the last one is today' }),
  })
  .openapi('Requests')

export const getRequests = keyedRoute({
  method: 'get',
  path: '/api/v1/account/requests',
  need: 'read',
  summary: 'See how many requests your account has made today and in the 29 days before',
  tag: 'Account',
  answer: dataOf(requests),
  async handle({ call, caller }) {
    return {
      success: true,
      data: { days: await call.site.services.usage.requestsByDay(caller.account, DAYS) },
    }
  },
})
