import { accountAnswer, requestsAnswer, storageAnswer } from '../contract/account.ts'
import { timestamp } from '../domain/clock.ts'
import type { FilesPart } from '../files/files.part.ts'
import { keyedEndpoint } from '../server/endpoint.ts'
import type { AccountsPart } from './accounts.part.ts'

export const getAccountEndpoint = keyedEndpoint({
  summary: 'Get your account',
  tag: 'Account',
  answer: accountAnswer,
  async handle({ call, caller }, { accounts, files }: { accounts: AccountsPart; files: FilesPart }) {
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
  async handle({ caller }, { files }: { files: FilesPart }) {
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
  async handle({ caller }, { files }: { files: FilesPart }) {
    return {
      success: true,
      data: { days: await files.usage.requestsByDay(caller.account, DAYS) },
    }
  },
})
