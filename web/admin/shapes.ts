import * as z from 'zod/mini'
import { ACTS } from '../../src/domain/audit.ts'
import { NOTICE_LEVELS } from '../../src/domain/notice.ts'
import { REPORT_REASONS, REPORT_STATES } from '../../src/domain/report.ts'

/** The answers of the API, as far as administration reads them. */

const dataOf = <Shape extends z.ZodMiniType>(shape: Shape) => z.object({ data: shape })

const paginationShape = z.object({ page: z.number(), total: z.number(), pages: z.number() })
const listOf = <Shape extends z.ZodMiniType>(shape: Shape) =>
  z.object({ data: z.array(shape), pagination: paginationShape })

/** One page of a list. */
export interface Page<Item> {
  readonly data: readonly Item[]
  readonly pagination: z.infer<typeof paginationShape>
}

export const done = z.object({ success: z.literal(true) })

const ownerShape = z.object({ id: z.number(), username: z.string() })
export type Owner = z.infer<typeof ownerShape>

const accountShape = z.object({
  id: z.number(),
  username: z.string(),
  created_at: z.string(),
  disabled_at: z.nullable(z.string()),
  is_admin: z.boolean(),
  has_codes: z.boolean(),
  storage_used: z.number(),
  storage_in_bin: z.number(),
  storage_limit: z.number(),
  quota: z.nullable(z.number()),
  files_count: z.number(),
  folders_count: z.number(),
})
export type Account = z.infer<typeof accountShape>
export const account = dataOf(accountShape)
export const accounts = listOf(accountShape)

const accountDetailShape = z.extend(accountShape, {
  has_password: z.boolean(),
  has_mail: z.boolean(),
  passkeys: z.number(),
  keys: z.number(),
  sessions: z.number(),
  last_seen_at: z.nullable(z.string()),
  api_requests_today: z.number(),
})
export type AccountDetail = z.infer<typeof accountDetailShape>
export const accountDetail = dataOf(accountDetailShape)

const linkShape = z.object({ url: z.string(), expires_at: z.string() })
export type OneTimeLink = z.infer<typeof linkShape>
export const oneTimeLink = dataOf(linkShape)

const dayShape = z.object({
  day: z.string(),
  requests: z.number(),
  bytes_in: z.number(),
  bytes_out: z.number(),
  uploads: z.number(),
  downloads: z.number(),
  accounts: z.nullable(z.number()),
  files: z.nullable(z.number()),
  storage_used: z.nullable(z.number()),
})
export type Day = z.infer<typeof dayShape>

const presentShape = z.object({
  accounts: z.number(),
  files: z.number(),
  storage_used: z.number(),
  storage_reserved: z.number(),
  storage_in_bins: z.number(),
  guests: z.object({ files: z.number(), storage_used: z.number() }),
  disk_free: z.nullable(z.number()),
  reports_open: z.number(),
})
export type Present = z.infer<typeof presentShape>
const outageShape = z.object({
  began_at: z.string(),
  ended_at: z.string(),
  cause: z.enum(['stopped', 'clock set ahead', 'clock set back']),
})
export type Outage = z.infer<typeof outageShape>
const statisticsShape = z.object({
  now: presentShape,
  days: z.array(dayShape),
  outages: z.array(outageShape),
})
export type Statistics = z.infer<typeof statisticsShape>
export const statistics = dataOf(statisticsShape)

const fileShape = z.object({
  id: z.number(),
  url: z.string(),
  thumbnail_url: z.string(),
  name: z.string(),
  type: z.string(),
  size: z.number(),
  created_at: z.string(),
  views: z.number(),
  downloads: z.number(),
  account: z.nullable(ownerShape),
})
export type AnyFile = z.infer<typeof fileShape>
export const files = listOf(fileShape)

const jobShape = z.object({
  name: z.string(),
  state: z.enum(['waiting', 'running', 'set aside']),
  node: z.nullable(z.string()),
  ended_at: z.nullable(z.string()),
  failures: z.number(),
  failure: z.nullable(z.string()),
  failed_at: z.nullable(z.string()),
})
export type Job = z.infer<typeof jobShape>
export type JobState = Job['state']
const jobsShape = z.object({ jobs: z.array(jobShape), thumbnails_waiting: z.number() })
export type Jobs = z.infer<typeof jobsShape>
export const jobs = dataOf(jobsShape)

const nodeShape = z.object({ id: z.string(), started_at: z.string(), is_this: z.boolean() })
export type Node = z.infer<typeof nodeShape>
export const nodes = dataOf(z.array(nodeShape))

const settingShape = z.object({
  name: z.string(),
  value: z.string(),
  is_default: z.boolean(),
  is_secret: z.boolean(),
  description: z.string(),
})
export type Setting = z.infer<typeof settingShape>
export const settings = dataOf(z.array(settingShape))

const noticeShape = z.object({
  text: z.string(),
  level: z.enum(NOTICE_LEVELS),
  from: z.nullable(z.string()),
  until: z.nullable(z.string()),
})
export type Notice = z.infer<typeof noticeShape>
export const notice = dataOf(z.object({ notice: z.nullable(noticeShape) }))

const reportShape = z.object({
  id: z.number(),
  reason: z.enum(REPORT_REASONS),
  text: z.nullable(z.string()),
  created_at: z.string(),
  state: z.enum(REPORT_STATES),
  closed_at: z.nullable(z.string()),
  file: z.object({
    id: z.number(),
    url: z.string(),
    name: z.string(),
    sha256: z.string(),
    is_here: z.boolean(),
    size: z.nullable(z.number()),
    type: z.nullable(z.string()),
    thumbnail_url: z.nullable(z.string()),
    account: z.nullable(ownerShape),
  }),
})
export type Report = z.infer<typeof reportShape>
export const reports = listOf(reportShape)

const takenDownShape = z.object({ sha256: z.string(), files: z.number() })
export type TakenDown = z.infer<typeof takenDownShape>
export const takenDown = dataOf(takenDownShape)

const refusedShape = z.object({ sha256: z.string(), refused_at: z.string(), files: z.number() })
export type Refused = z.infer<typeof refusedShape>
export const refused = listOf(refusedShape)

const deedShape = z.object({
  id: z.number(),
  at: z.string(),
  account: z.nullable(ownerShape),
  address: z.nullable(z.string()),
  act: z.enum(ACTS),
  object: z.nullable(z.string()),
  details: z.record(z.string(), z.nullable(z.union([z.string(), z.number(), z.boolean()]))),
})
export type Deed = z.infer<typeof deedShape>
export const audit = listOf(deedShape)
