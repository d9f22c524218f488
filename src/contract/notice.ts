import * as z from 'zod/mini'
import { NOTICE_LEVELS } from '../domain/notice.ts'
import { component, dataOf, described, optionalTimestamp } from './fields.ts'

const text = described(z.string(), {
  example: 'Maintenance from 22:00 on: uploads will pause for some minutes.',
})
const level = z.enum(NOTICE_LEVELS)

const notice = component(
  'Notice',
  z.object({ text, level, from: optionalTimestamp, until: optionalTimestamp }),
)
export type Notice = z.infer<typeof notice>

/** Administrators also see a notice that is not due yet, or over. */
export const noticeAnswer = dataOf(z.object({ notice: z.nullable(notice) }))

const shownNotice = z.object({ text, level })
export type ShownNotice = z.infer<typeof shownNotice>

export const shownNoticeAnswer = dataOf(z.object({ notice: z.nullable(shownNotice) }))
