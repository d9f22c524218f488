import { z } from '@hono/zod-openapi'
import { Refusal } from '../domain/errors.ts'
import { endpoint } from '../server/endpoint.ts'
import type { PagesModule } from './pages.module.ts'

/** What browsers, phones and crawlers ask for at the top, unasked: `web/static`. */
export const getSiteFile = endpoint({
  documentation: {
    summary: 'Get a file of the site',
    description:
      'favicon.ico, apple-touch-icon.png, site.webmanifest, robots.txt and what they name, and card.jpg for previews in chats.',
    tag: 'Site',
    params: z.object({ name: z.string() }),
    answers: { 200: { description: 'The file' } },
    errors: [404],
  },
  async handle(call, { pages }: { pages: PagesModule }) {
    const file = pages.file(call.params.name ?? '', call.request)
    if (file === null) throw new Refusal('NOT_FOUND', 'There is nothing at this address')
    return file
  },
})
