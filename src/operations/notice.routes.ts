import { z } from '@hono/zod-openapi'
import { done } from '../contract/fields.ts'
import { type Notice as NoticeAnswer, noticeAnswer, shownNoticeAnswer } from '../contract/notice.ts'
import { optionalTime } from '../domain/clock.ts'
import { MAX_NOTICE, NOTICE_LEVELS, type Notice } from '../domain/notice.ts'
import { adminEndpoint, openEndpoint } from '../server/endpoint.ts'
import type { OperationsPart } from './operations.part.ts'

const time = z.iso
  .datetime({ offset: true, error: 'must be a time such as 2027-01-31T12:00:00Z' })
  .nullish()
  .openapi({ example: '2037-01-31T12:00:00Z' })

function toNotice({ text, level, from, until }: Notice): NoticeAnswer {
  return { text, level, from: optionalTime(from), until: optionalTime(until) }
}

export const getNoticeEndpoint = adminEndpoint({
  summary: 'Get the configured notice',
  description: 'Also one that is not due yet or over.',
  answer: noticeAnswer,
  async handle(_, { operations }: { operations: OperationsPart }) {
    const present = await operations.notices.get()
    return { success: true, data: { notice: present === null ? null : toNotice(present) } }
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
  async handle({ caller, body }, { operations }: { operations: OperationsPart }) {
    const at = (time: string | null | undefined) => (typeof time === 'string' ? Date.parse(time) : null)
    const { text, level, from, until } = body
    const given = { text, level, from: at(from), until: at(until) }
    const set = await operations.notices.set(caller, given)
    return { success: true, data: { notice: toNotice(set) } }
  },
})

export const clearNoticeEndpoint = adminEndpoint({
  summary: 'Delete the notice',
  answer: done,
  async handle({ caller }, { operations }: { operations: OperationsPart }) {
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
  async handle(_, { operations }: { operations: OperationsPart }) {
    const shown = operations.notices.shown()
    const notice = shown === null ? null : { text: shown.text, level: shown.level }
    return { success: true, data: { notice } }
  },
})
