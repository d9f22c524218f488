import { z } from '@hono/zod-openapi'
import { damagedFilesAnswer } from '../contract/administration.ts'
import { type Integrity, integrityAnswer, type OwnRun } from '../contract/operations.ts'
import { DAMAGED_FILE_STATES } from '../domain/account.ts'
import { optionalTime, timestamp } from '../domain/clock.ts'
import { GUESTS } from '../domain/ids.ts'
import { fileUrl } from '../server/call.ts'
import { adminEndpoint } from '../server/endpoint.ts'
import { pageFields, pageQuery, toList } from '../server/requests/fields.ts'
import type { OwnRunState, ScrubState } from './integrity.ts'
import type { OperationsModule } from './operations.module.ts'

export const getIntegrityEndpoint = adminEndpoint({
  summary: 'Get the state of integrity checks',
  description: 'How far the server is with reading stored bytes again, and how many contents are damaged.',
  answer: integrityAnswer,
  async handle(_, { operations }: { operations: OperationsModule }) {
    const { scrub, damaged, repaired, backup, drill } = await operations.integrity.state()
    const isDiskBusy = await operations.diskLoad.isBusy()
    const data: Integrity = {
      scrub: scrub === null ? null : toScrub(scrub, isDiskBusy),
      contents_damaged: damaged,
      contents_repaired: repaired,
      backup: backup && toOwnRun(backup),
      drill: drill && toOwnRun(drill),
    }
    return { success: true, data }
  },
})

function toScrub({ days, rate, oldest, due, job }: ScrubState, isDiskBusy: boolean): Integrity['scrub'] {
  return {
    days,
    rate,
    oldest_unverified_at: optionalTime(oldest),
    due_contents: due.contents,
    due_bytes: due.bytes,
    due_exact: due.isAll,
    disk_busy: isDiskBusy,
    state: job?.state ?? 'waiting',
    failure: job?.failure ?? null,
  }
}

function toOwnRun({ place, last, failure, job }: OwnRunState): OwnRun {
  return {
    place,
    taken_at: optionalTime(last?.takenAt ?? null),
    ended_at: optionalTime(last?.endedAt ?? null),
    files: last?.files ?? 0,
    bytes: last?.bytes ?? 0,
    wrong: last?.wrong ?? 0,
    state: job?.state ?? 'waiting',
    failure: failure?.reason ?? null,
    failed_at: optionalTime(failure?.at ?? null),
  }
}

export const listDamagedFilesEndpoint = adminEndpoint({
  summary: 'List damaged files',
  description: 'Also those that are sound again, the latest found first.',
  query: z.object({ ...pageQuery, state: z.enum(DAMAGED_FILE_STATES).optional() }),
  answer: damagedFilesAnswer,
  errors: [400],
  async handle({ call, query }, { operations }: { operations: OperationsModule }) {
    const page = pageFields(query)
    const { files, total } = await operations.integrity.files({
      state: query.state ?? 'damaged',
      offset: (page.page - 1) * page.perPage,
      limit: page.perPage,
    })
    const data = files.map((file) => ({
      id: file.id,
      slug: file.slug,
      url: fileUrl(call.site, file.slug),
      name: file.name,
      size: file.size,
      account: file.account_id === GUESTS ? null : { id: file.account_id, username: file.username },
      key: file.key,
      reason: file.damage,
      found_at: timestamp(file.found_at),
      repaired_at: optionalTime(file.repaired_at),
    }))
    return toList(page, data, total)
  },
})
