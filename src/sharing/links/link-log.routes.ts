import { z } from '@hono/zod-openapi'
import { type LinkEvent, linkLogAnswer } from '../../contract/links.ts'
import { eventFields, type LinkEventRow } from '../../core/link-events.rows.ts'
import { timestamp } from '../../domain/clock.ts'
import { keyedEndpoint } from '../../server/endpoint.ts'
import { MAX_PAGE, paginationOf, queryNumber } from '../../server/requests/fields.ts'
import type { SharingPart } from '../sharing.part.ts'

export function toLinkEvent(row: LinkEventRow): LinkEvent {
  return { kind: row.kind, at: timestamp(row.at), ...eventFields(row) }
}

export const linkLogEndpoint = keyedEndpoint({
  summary: 'List the events of a link',
  description: 'Those of the last 90 days, newest first: up to 2,000.',
  tag: 'Links',
  params: z.object({ link: z.string().openapi({ description: 'The slug of the link' }) }),
  query: z.object({
    page: queryNumber(1, MAX_PAGE).optional(),
    per_page: queryNumber(1, 100).optional(),
  }),
  answer: linkLogAnswer,
  errors: [400, 404],
  async handle({ caller, params, query }, { sharing }: { readonly sharing: Pick<SharingPart, 'links'> }) {
    const [page, perPage] = [query.page ?? 1, query.per_page ?? 20]
    const { events, total } = await sharing.links.log(caller, params.link ?? '', page, perPage)
    return { success: true, data: events.map(toLinkEvent), pagination: paginationOf(page, perPage, total) }
  },
})
