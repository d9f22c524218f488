import { z } from '@hono/zod-openapi'
import { MAX_NOTICE, NOTICE_LEVELS, type Notice } from '../../../domain/notice.ts'
import { adminRoute, openRoute } from '../../route.ts'
import { done } from '../answers.ts'
import { dataOf, optionalTimestamp } from '../fields.ts'
import { optionalTime } from './fields.ts'

const text = z
  .string()
  .openapi({ example: 'Maintenance from 22:00 on: uploads will pause for some minutes.' })
const level = z.enum(NOTICE_LEVELS)

const notice = z.object({ text, level, from: optionalTimestamp, until: optionalTimestamp }).openapi('Notice')

const time = z.iso
  .datetime({ offset: true, error: 'must be a time such as 2027-01-31T12:00:00Z' })
  .nullish()
  .openapi({ example: '2027-01-31T12:00:00Z' })

function toNotice({ text, level, from, until }: Notice): z.infer<typeof notice> {
  return { text, level, from: optionalTime(from), until: optionalTime(until) }
}

const answer = dataOf(z.object({ notice: notice.nullable() }))

export const getNotice = adminRoute({
  method: 'get',
  path: '/api/v1/admin/notice',
  summary: 'Read the notice, also one that is not due yet or over',
  answer,
  async handle({ call }) {
    const present = await call.site.services.notices.get()
    return { success: true, data: { notice: present === null ? null : toNotice(present) } }
  },
})

export const setNotice = adminRoute({
  method: 'post',
  path: '/api/v1/admin/notice',
  summary: 'Show a notice on all pages, in the place of any other',
  body: z.object({
    text: z
      .string('must be the text')
      .min(1, 'must say something')
      .max(10 * MAX_NOTICE, `may have ${MAX_NOTICE} characters at most`)
      .openapi({ maxLength: MAX_NOTICE, example: 'Maintenance from 22:00 on.' }),
    level: z.enum(NOTICE_LEVELS, `must be one of ${NOTICE_LEVELS.join(', ')}`),
    from: time.openapi({ description: 'null or missing: at once' }),
    until: time.openapi({ description: 'null or missing: until it is taken away' }),
  }),
  answer,
  errors: [400, 413],
  async handle({ call, caller, body }) {
    const at = (time: string | null | undefined) => (typeof time === 'string' ? Date.parse(time) : null)
    const { text, level, from, until } = body
    const given = { text, level, from: at(from), until: at(until) }
    const set = await call.site.services.notices.set(caller, given)
    return { success: true, data: { notice: toNotice(set) } }
  },
})

export const clearNotice = adminRoute({
  method: 'delete',
  path: '/api/v1/admin/notice',
  summary: 'Take the notice away',
  answer: done,
  async handle({ call, caller }) {
    await call.site.services.notices.clear(caller)
    return { success: true }
  },
})

/** For pages that stay open: the frame of every page shows it already. */
export const getShownNotice = openRoute({
  method: 'get',
  path: '/api/v1/notice',
  summary: 'What the administrators tell everybody at the moment',
  tag: 'Health',
  answer: dataOf(z.object({ notice: z.object({ text, level }).nullable() })),
  async handle({ call }) {
    const shown = call.site.services.notices.shown()
    const notice = shown === null ? null : { text: shown.text, level: shown.level }
    return { success: true, data: { notice } }
  },
})
