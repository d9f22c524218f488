import { z } from '@hono/zod-openapi'
import { type AnyFile as AnyFileAnswer, allFilesAnswer, auditAnswer } from '../contract/administration.ts'
import { done } from '../contract/fields.ts'
import { noticeAnswer, shownNoticeAnswer } from '../contract/notice.ts'
import {
  jobsAnswer,
  nodesAnswer,
  type Statistics,
  settingsAnswer,
  statisticsAnswer,
} from '../contract/operations.ts'
import { ALL_FILES_SORTS } from '../domain/account.ts'
import { ACTS } from '../domain/audit.ts'
import { timestamp } from '../domain/clock.ts'
import { GUESTS } from '../domain/ids.ts'
import { MAX_NOTICE, NOTICE_LEVELS } from '../domain/notice.ts'
import { versionWithCommit } from '../program/version.ts'
import { fileUrl, type Site } from '../server/call.ts'
import { adminEndpoint, openEndpoint } from '../server/endpoint.ts'
import { pageFields, pageQuery, queryNumber, toList } from '../server/requests/fields.ts'
import { pictureAddresses, type Thumbnails, thumbnailPath } from '../thumbnails/thumbnails.ts'
import type { AnyFile } from './all-files.ts'
import type { OperationsModule } from './operations.module.ts'

export const listAuditEndpoint = adminEndpoint({
  summary: 'List the audit log',
  description: 'Latest first. Nobody can change it.',
  query: z.object({ ...pageQuery, act: z.enum(ACTS).optional() }),
  answer: auditAnswer,
  errors: [400],
  async handle({ query }, { operations }: { operations: OperationsModule }) {
    const page = pageFields(query)
    const { entries, total } = await operations.auditLog.list(query.act ?? null, page.page, page.perPage)
    return toList(page, [...entries], total)
  },
})

export const listJobsEndpoint = adminEndpoint({
  summary: 'List background jobs',
  description: 'With those that fail.',
  answer: jobsAnswer,
  async handle(_, { operations }: { operations: OperationsModule }) {
    const jobs = await operations.backgroundJobs.list()
    const waiting = await operations.backgroundJobs.thumbnailsWaiting()
    return { success: true, data: { jobs: [...jobs], thumbnails_waiting: waiting } }
  },
})

export const retryJobEndpoint = adminEndpoint({
  summary: 'Retry a background job',
  description: 'One that was set aside.',
  body: z.object({
    job: z.string('must be the name of a job').max(100).openapi({ example: 'purge deleted files' }),
  }),
  answer: done,
  errors: [400, 404, 413],
  async handle({ caller, body }, { operations }: { operations: OperationsModule }) {
    await operations.backgroundJobs.retry(caller, body.job)
    return { success: true }
  },
})

export const listNodesEndpoint = adminEndpoint({
  summary: 'List nodes',
  description: 'The servers that share the database.',
  answer: nodesAnswer,
  async handle(_, { operations }: { operations: OperationsModule }) {
    return { success: true, data: [...(await operations.backgroundJobs.nodes())] }
  },
})

const time = z.iso
  .datetime({ offset: true, error: 'must be a time such as 2027-01-31T12:00:00Z' })
  .nullish()
  .openapi({ example: '2037-01-31T12:00:00Z' })

export const getNoticeEndpoint = adminEndpoint({
  summary: 'Get the configured notice',
  description: 'Also one that is not due yet or over.',
  answer: noticeAnswer,
  async handle(_, { operations }: { operations: OperationsModule }) {
    const present = await operations.notices.get()
    return { success: true, data: { notice: present } }
  },
})

export const setNoticeEndpoint = adminEndpoint({
  summary: 'Set the notice',
  description: 'Shown on all pages, in the place of any other.',
  body: z.object({
    text: z
      .string('must be the text')
      .min(1, 'must not be empty')
      .max(10 * MAX_NOTICE, `may have ${MAX_NOTICE} characters at most`)
      .openapi({ maxLength: MAX_NOTICE, example: 'Maintenance from 22:00 on.' }),
    level: z.enum(NOTICE_LEVELS, `must be one of ${NOTICE_LEVELS.join(', ')}`),
    from: time.openapi({ description: 'null or missing: at once' }),
    until: time.openapi({
      description: 'null or missing: until it is taken away',
      example: '2037-02-01T12:00:00Z',
    }),
  }),
  answer: noticeAnswer,
  errors: [400, 413],
  async handle({ caller, body }, { operations }: { operations: OperationsModule }) {
    const at = (time: string | null | undefined) => (typeof time === 'string' ? Date.parse(time) : null)
    const { text, level, from, until } = body
    const given = { text, level, from: at(from), until: at(until) }
    const set = await operations.notices.set(caller, given)
    return { success: true, data: { notice: set } }
  },
})

export const clearNoticeEndpoint = adminEndpoint({
  summary: 'Delete the notice',
  answer: done,
  async handle({ caller }, { operations }: { operations: OperationsModule }) {
    await operations.notices.clear(caller)
    return { success: true }
  },
})

/** For pages that stay open; a page's layout has the notice when it loads. */
export const getShownNoticeEndpoint = openEndpoint({
  summary: 'Get the notice',
  description: 'What the administrators tell everybody at the moment.',
  tag: 'Health',
  answer: shownNoticeAnswer,
  async handle(_, { operations }: { operations: OperationsModule }) {
    const shown = operations.notices.shown()
    const notice = shown === null ? null : { text: shown.text, level: shown.level }
    return { success: true, data: { notice } }
  },
})

export const listSettingsEndpoint = adminEndpoint({
  summary: 'List settings',
  description: 'Those in force, without secrets.',
  answer: settingsAnswer,
  async handle(_, { operations }: { operations: OperationsModule }) {
    const data = operations.settings.map(({ variable, value, isDefault, isSecret, description }) => ({
      name: variable,
      value,
      is_default: isDefault,
      is_secret: isSecret,
      description,
    }))
    return { success: true, data }
  },
})

const DAYS = 30

export const getStatisticsEndpoint = adminEndpoint({
  summary: 'Get statistics',
  description: 'What the server holds, and what it did day by day, oldest first.',
  query: z.object({ days: queryNumber(1, 366).optional() }),
  answer: statisticsAnswer,
  errors: [400],
  async handle({ query }, { operations }: { operations: OperationsModule }) {
    const { now, days, outages } = await operations.statistics.read(query.days ?? DAYS)
    const { diskFree, reportsOpen, contentsDamaged, unknownProxies, ...totals } = now
    const data: Statistics = {
      version: versionWithCommit(),
      now: {
        ...totals,
        disk_free: diskFree,
        reports_open: reportsOpen,
        contents_damaged: contentsDamaged,
        unknown_proxies: unknownProxies.map(({ peer, header }) => ({ peer, header })),
      },
      days: [...days],
      outages: outages.map(({ began_at, ended_at, cause }) => ({
        began_at: timestamp(began_at),
        ended_at: timestamp(ended_at),
        cause,
      })),
    }
    return { success: true, data }
  },
})

function toAnyFile(site: Site, file: AnyFile, pictureUrl: string): AnyFileAnswer {
  return {
    id: file.id,
    uuid: file.uuid,
    slug: file.slug,
    url: fileUrl(site, file.slug),
    thumbnail_url: thumbnailPath(file.uuid),
    picture_url: pictureUrl,
    name: file.name,
    type: file.type,
    size: file.size,
    created_at: timestamp(file.created_at),
    views: file.views,
    downloads: file.downloads,
    sha256: file.sha256,
    account: file.account_id === GUESTS ? null : { id: file.account_id, username: file.username },
  }
}

export const listAllFilesEndpoint = adminEndpoint({
  summary: 'List the files of all accounts',
  description: 'Newest or largest first.',
  query: z.object({ ...pageQuery, sort: z.enum(ALL_FILES_SORTS).optional() }),
  answer: allFilesAnswer,
  errors: [400],
  async handle(
    { call, query },
    { operations, thumbnails }: { operations: OperationsModule; thumbnails: Thumbnails },
  ) {
    const page = pageFields(query)
    const sort = query.sort ?? 'created_at'
    const { files, total } = await operations.allFiles.list(sort, page.page, page.perPage)
    const pictureOf = await pictureAddresses(thumbnails, files)
    return toList(
      page,
      files.map((file) => toAnyFile(call.site, file, pictureOf(file))),
      total,
    )
  },
})
