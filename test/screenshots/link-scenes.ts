/** What is shown of links, upload links and receipts. */
import { z } from 'zod'
import { DAY, timestamp } from '../../src/domain/clock.ts'
import { api } from '../support/clients/api.ts'
import { makeLink } from '../support/clients/links.ts'
import { makeFolder } from '../support/clients/public.ts'
import type { TestHoldfast } from '../support/servers/holdfast.ts'
import { said } from './said.ts'
import type { Scene } from './scenes.ts'
import { open, openSignedIn } from './visiting.ts'

/** Paths of pages. */
export interface LinkPages {
  readonly asking: string
  readonly sent: string
  readonly uploaded: string
  readonly guestLink: string
}

const withReceipt = z.object({ receipt: z.string() })

/** A link that asks for files, with what has come by it, and a guest's link that was used. */
export async function fillLinks(host: TestHoldfast, key: string): Promise<LinkPages> {
  const folder = await makeFolder(host, key, { name: 'Wedding photos' })
  const asking = await makeLink(host, key, {
    folders: [folder],
    name: 'Photos of the wedding',
    message: 'All that you have, please, also the blurred ones.\nThank you for coming.',
    ends_at: timestamp(host.clock.now() + 14 * DAY),
    uploads: { types: ['image/*', 'video/*'], fields: { sender: 'required', reference: 'optional' } },
  })
  const guest = api(host)
  const body = new Uint8Array(4_812_345).fill(68)
  const headers = { accept: 'application/json' }
  const sent = await guest.send(`/l/${asking}/Dancing.jpg?sender=Ben%20Carter&reference=Table%207`, {
    method: 'PUT',
    body,
    headers,
  })
  const receipts: string[] = []
  for (const name of ['Programme.pdf', 'Seating plan.pdf', 'Directions.txt']) {
    receipts.push(withReceipt.parse((await guest.upload('x'.repeat(90_000), { name })).body).receipt)
  }
  const made = await guest.post('/api/v1/receipts/link', {
    receipts,
    name: 'For Saturday',
    password: 'kelp',
    max_downloads: 3,
    ends_at: timestamp(host.clock.now() + 7 * DAY),
  })
  const { receipt: guestLink } = withReceipt.parse(made.body)
  const { slug } = z.object({ data: z.object({ slug: z.string() }) }).parse(made.body).data
  const unlocked = await fetch(`${host.url}/l/${slug}`, {
    method: 'POST',
    body: new URLSearchParams({ password: 'kelp' }),
    redirect: 'manual',
  })
  const cookie = unlocked.headers
    .getSetCookie()
    .map((each) => each.split(';')[0])
    .join('; ')
  const zip = await fetch(`${host.url}/l/${slug}?download=zip`, { headers: { cookie } })
  await zip.arrayBuffer()
  return {
    asking: `/l/${asking}`,
    sent: `/r/${withReceipt.parse(sent.body).receipt}`,
    uploaded: `/r/${receipts[0] ?? ''}`,
    guestLink: `/r/${guestLink}`,
  }
}

export const linkScenes: readonly Scene[] = [
  {
    name: 'share',
    looks: ['light'],
    async show(page, demo) {
      await openSignedIn(page, `/files/${demo.list}`, demo)
      await page.getByRole('row', { name: /^tides/ }).click()
      await page.keyboard.press('Shift+F10')
      await page.getByRole('menuitem', { name: said(/Share/) }).click()
      await page.getByRole('dialog').waitFor()
    },
  },
  { name: 'upload-link', looks: ['light'], show: (page, { linkPages }) => open(page, linkPages.asking) },
  { name: 'receipt-sent', looks: ['light'], show: (page, { linkPages }) => open(page, linkPages.sent) },
  { name: 'receipt-upload', looks: ['light'], show: (page, { linkPages }) => open(page, linkPages.uploaded) },
  { name: 'receipt-link', looks: ['light'], show: (page, { linkPages }) => open(page, linkPages.guestLink) },
]
