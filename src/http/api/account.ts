import { z } from '@hono/zod-openapi'
import { keyedRoute } from '../route.ts'
import { dataOf } from './fields.ts'

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
