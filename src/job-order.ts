import type { Job } from './core/jobs/jobs.ts'

/** In the order in which one may feed the next. */
export const JOB_NAMES: readonly string[] = [
  'beat',
  'watch other nodes',
  'watch the disk',
  'note that the service runs',
  'write counters',
  'write downloads by links',
  'write traffic',
  'read the notice',
  'write rate windows',
  'probe a broken store',
  'give back room',
  'release uploads',
  'finish uploads',
  'make thumbnails',
  'end uploads of dead nodes',
  'give up unused uploads',
  'forget old idempotency keys',
  'go on with taking down',
  'note totals',
  'keep warned files',
  'warn of unused files',
  'hide unused files',
  'purge unused files',
  'bring back from bins',
  'empty bins',
  'clear deleted folders',
  'purge deleted files',
  'forget removed accounts',
  'forget ended sessions',
  'forget old changes',
  'forget old reports',
  'count old downloads by links',
  'forget contributions that never arrived',
  'forget old links',
  'end forgotten uploads at the store',
  'remove garbage',
  'forget outcomes of transactions',
  'forget old mails',
  'forget old webhook deliveries',
  'check the database',
  'read stored bytes again',
  'note damaged contents',
  'tell of damaged contents',
  'tell of ends of links',
  'tell of many downloads',
  'tell of storage that is nearly full',
  'tell of what happened to links',
  'keep the mirror',
  'back up',
  'rehearse a restore',
  'send mails',
  'send webhooks',
]

/** Throws for an unlisted job. */
export function jobsOf(parts: readonly { readonly jobs: readonly Job[] }[]): readonly Job[] {
  const jobs = parts.flatMap((part) => part.jobs)
  const unknown = jobs.find(({ name }) => !JOB_NAMES.includes(name))
  if (unknown !== undefined) throw new Error(`job-order.ts does not name the job "${unknown.name}"`)
  return jobs.toSorted((a, b) => JOB_NAMES.indexOf(a.name) - JOB_NAMES.indexOf(b.name))
}
