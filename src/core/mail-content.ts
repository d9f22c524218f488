/** What a mail tells, as the outbox keeps it. Paths are on this site; times are milliseconds since the epoch. */
import * as z from 'zod/mini'

const readonlyArray = <T extends z.core.$ZodType>(item: T) => z.readonly(z.array(item))

const path = z.string()
const unsubscribePath = path
const username = z.string()
const count = z.int()
const time = z.int()

/** The secret of `path` works once. */
const oneTime = z.object({ kind: z.enum(['verify', 'reset']), username, path })

const changed = z.object({
  kind: z.enum(['password changed', 'address changed', 'address removed']),
  username,
})

const filesGoing = z.object({
  kind: z.literal('files going'),
  username,
  names: readonlyArray(z.string()),
  more: count,
  goAt: time,
  days: count,
  keepPath: path,
  unsubscribePath,
})
export type FilesGoing = z.infer<typeof filesGoing>

const filesDamaged = z.object({
  kind: z.literal('files damaged'),
  username,
  names: readonlyArray(z.string()),
  more: count,
  unsubscribePath,
})
export type FilesDamaged = z.infer<typeof filesDamaged>

/** The link's name, or that of a target. */
const title = z.string()

const receivedFiles = z.object({
  kind: z.literal('received'),
  title,
  count,
  /** The first ones. `sender`: as stated; null if not asked. */
  files: readonlyArray(z.object({ name: z.string(), sender: z.nullable(z.string()) })),
})

const downloaded = z.object({ kind: z.literal('downloaded'), title, times: count, isFirst: z.boolean() })
export type DownloadedNews = z.infer<typeof downloaded>

const linkNewsItem = z.discriminatedUnion('kind', [
  receivedFiles,
  downloaded,
  z.object({ kind: z.enum(['used up', 'full']), title }),
  z.object({ kind: z.enum(['ends soon', 'ended']), title, at: time }),
  z.object({ kind: z.literal('nearly full'), bytes: count }),
])
export type LinkNewsItem = z.infer<typeof linkNewsItem>

const linkNews = z.object({
  kind: z.literal('link news'),
  username,
  /** In order of each link's first event. */
  news: readonlyArray(linkNewsItem),
  more: count,
  unsubscribePath,
})
export type LinkNews = z.infer<typeof linkNews>

const webhookDisabled = z.object({
  kind: z.literal('webhook disabled'),
  username,
  url: z.string(),
  /** The receiver said it is gone; otherwise a day of failures. */
  isGone: z.boolean(),
  unsubscribePath,
})
export type WebhookDisabled = z.infer<typeof webhookDisabled>

/** To an administrator. */
const contentsDamaged = z.object({
  kind: z.literal('contents damaged'),
  username,
  contents: count,
  /** `owner`: null for a guest. */
  files: readonlyArray(z.object({ name: z.string(), owner: z.nullable(z.string()) })),
  more: count,
  unsubscribePath,
})
export type ContentsDamaged = z.infer<typeof contentsDamaged>

/** To an administrator: a backup lacks contents, or a test restore has ended. */
const backupEnded = z.object({
  kind: z.enum(['backup ended', 'drill ended']),
  username,
  place: z.string(),
  takenAt: time,
  /** In the backup; for a drill, files read back. */
  files: count,
  bytes: count,
  /** Missing contents; 0 for a good drill. */
  wrong: count,
  unsubscribePath,
})
export type BackupEnded = z.infer<typeof backupEnded>

/** To an administrator. */
const backupFailed = z.object({
  kind: z.enum(['backup failed', 'drill failed']),
  username,
  place: z.string(),
  reason: z.string(),
  /** Moment of the last success; null for none. */
  lastAt: z.nullable(time),
  unsubscribePath,
})
export type BackupFailed = z.infer<typeof backupFailed>

export const mailContent = z.discriminatedUnion('kind', [
  oneTime,
  changed,
  filesGoing,
  filesDamaged,
  linkNews,
  webhookDisabled,
  contentsDamaged,
  backupEnded,
  backupFailed,
])
export type MailContent = z.infer<typeof mailContent>
