import { z } from '@hono/zod-openapi'
import { doneWithMessage } from '../contract/fields.ts'
import { linkDetail, linkLogAnswer } from '../contract/links.ts'
import { type Receipted, type ReceiptUpload, receiptAnswer } from '../contract/receipts.ts'
import { uploadResult } from '../contract/uploads.ts'
import { optionalTime, timestamp } from '../domain/clock.ts'
import { Refusal } from '../domain/errors.ts'
import { parseFolderPlace } from '../domain/ids.ts'
import type { FilesPart } from '../files/files.part.ts'
import { type Call, fileUrl } from '../server/call.ts'
import { keyedEndpoint, openEndpoint } from '../server/endpoint.ts'
import { assertChange, folderPlace, MAX_PAGE, paginationOf, queryNumber } from '../server/requests/fields.ts'
import type { GivenReceipt, ReceivedUpload } from '../uploads/receipts.ts'
import { toStoredUpload, toUnfinishedUpload } from '../uploads/upload-answers.ts'
import type { UploadsPart } from '../uploads/uploads.part.ts'
import { guestTerms, linkUrl, termsOfBody, toLinkDetail, toLinkEvent } from './links/links.routes.ts'
import type { SharingPart } from './sharing.part.ts'

export interface ReceiptNeeds {
  readonly files: Pick<FilesPart, 'inactivity'>
  readonly sharing: Pick<SharingPart, 'guestLinks'>
  readonly uploads: UploadsPart
}

export function receiptOf({ params, bucket }: Pick<Call, 'params' | 'bucket'>): GivenReceipt {
  return { text: params.receipt ?? '', bucket }
}

export async function receipted(call: Call, parts: ReceiptNeeds): Promise<Receipted> {
  const found = await parts.uploads.receipts.look(receiptOf(call))
  switch (found.kind) {
    case 'link':
      return { kind: 'link', ...toLinkDetail(call.site, await parts.sharing.guestLinks.get(found.link)) }
    case 'contribution': {
      const { canWithdraw, created_at, link, ...sent } = found.contribution
      return {
        kind: 'contribution',
        ...sent,
        link: link === null ? null : { url: linkUrl(call.site, link.slug), name: link.name },
        can_withdraw: canWithdraw,
        created_at: timestamp(created_at),
      }
    }
    case 'file':
    case 'arriving':
      return toReceiptUpload(call, parts, found)
  }
}

function toReceiptUpload(
  { site }: Pick<Call, 'site'>,
  { files, uploads }: ReceiptNeeds,
  received: ReceivedUpload,
): ReceiptUpload {
  if (received.kind === 'arriving') {
    const {
      status,
      name,
      received: bytes,
      size,
      created_at,
      expires_at,
    } = toUnfinishedUpload(site, uploads, received.upload)
    const { slug } = received.upload
    const url = fileUrl(site, slug)
    const counts = { views: 0, downloads: 0, sha256: null }
    return {
      kind: 'upload',
      status,
      name,
      received: bytes,
      size,
      slug,
      url,
      created_at,
      expires_at,
      ...counts,
    }
  }
  const { name, size, slug, created_at, views, downloads, sha256 } = received.file
  return {
    kind: 'upload',
    status: 'completed',
    name,
    received: size,
    size,
    slug,
    url: fileUrl(site, slug),
    created_at: timestamp(created_at),
    expires_at: optionalTime(files.inactivity.endOf(received.file)),
    views,
    downloads,
    sha256,
  }
}

const params = z.object({
  receipt: z.string().openapi({ description: 'From the answer to the upload, or to the making of the link' }),
})

/** The receipt alone authorizes. */
export const deleteByReceipt = openEndpoint({
  summary: 'Delete a guest’s file or link',
  description:
    'Deletes a file, also one that is still arriving, withdraws what was sent by an upload link, or revokes a link.',
  tag: 'Uploads',
  params,
  answer: doneWithMessage,
  errors: [404, 429],
  async handle({ call }, { uploads }: ReceiptNeeds) {
    const kind = await uploads.receipts.redeem(receiptOf(call))
    return { success: true, message: kind === 'link' ? 'The link was revoked' : 'The upload was deleted' }
  },
})

export const lookByReceipt = openEndpoint({
  summary: 'Get a receipt',
  description:
    'A file that was uploaded as a guest or sent by an upload link, or a link that a guest made. Not counted as a view.',
  tag: 'Uploads',
  params,
  answer: receiptAnswer,
  errors: [404, 429],
  async handle({ call }, parts: ReceiptNeeds) {
    return { success: true, data: await receipted(call, parts) }
  },
})

const ofLinks = Object.keys(guestTerms).filter((term) => term !== 'name')

const change = z
  .looseObject({
    ...guestTerms,
    keep: z.literal(true, 'must be true').optional().openapi({
      description: 'Of an upload: for as long as if somebody had opened it now',
    }),
  })
  .openapi({
    description:
      'Of an upload its "name", which may not be empty, and "keep"; of a link that a guest made its terms, and a field that it does not have is refused',
    example: { name: 'holiday.jpg', keep: true },
  })

export const changeByReceipt = openEndpoint({
  summary: 'Change a guest’s file or link',
  description:
    'Renames a file, or keeps it as if somebody had opened it now; changes the terms of a link, in force at once.',
  tag: 'Uploads',
  params,
  body: change,
  answer: receiptAnswer,
  errors: [400, 404, 413, 429],
  async handle({ call, body }, parts: ReceiptNeeds) {
    const { kind } = await receipted(call, parts)
    if (kind === 'link') await changeLink(call, parts, body)
    else await changeUpload(call, parts, body)
    return { success: true, data: await receipted(call, parts) }
  },
})

async function changeUpload(
  call: Call,
  { uploads }: ReceiptNeeds,
  { name, keep, ...others }: z.output<typeof change>,
): Promise<void> {
  const term = ofLinks.find((each) => others[each] !== undefined)
  if (term !== undefined)
    throw new Refusal('INVALID_REQUEST', `"${term}": an upload has none; make a link with it`)
  if (name === undefined && keep === undefined) {
    throw new Refusal('INVALID_REQUEST', 'Send "name" to rename the file, "keep": true to keep it, or both')
  }
  if (name === null || name === '') throw new Refusal('INVALID_REQUEST', '"name": must not be empty')
  const receipt = receiptOf(call)
  if (name !== undefined) await uploads.receipts.rename(receipt, name)
  if (keep !== undefined) await uploads.receipts.keep(receipt)
}

async function changeLink(
  call: Call,
  { sharing, uploads }: ReceiptNeeds,
  body: z.output<typeof change>,
): Promise<void> {
  assertChange(body, ['kind', 'password', ...Object.keys(linkDetail.shape)])
  const { uploads: _, ...terms } = termsOfBody(body)
  await sharing.guestLinks.change(await uploads.receipts.link(receiptOf(call)), call.bucket, terms)
}

export const logByReceipt = openEndpoint({
  summary: 'List the events of a guest’s link',
  description: 'Those of the last 90 days, newest first: up to 2,000, without addresses.',
  tag: 'Uploads',
  params,
  query: z.object({
    page: queryNumber(1, MAX_PAGE).optional(),
    per_page: queryNumber(1, 100).optional(),
  }),
  answer: linkLogAnswer,
  errors: [400, 404, 429],
  async handle({ call, query }, { sharing, uploads }: ReceiptNeeds) {
    const [page, perPage] = [query.page ?? 1, query.per_page ?? 20]
    const link = await uploads.receipts.link(receiptOf(call))
    const { events, total } = await sharing.guestLinks.log(link, page, perPage)
    return { success: true, data: events.map(toLinkEvent), pagination: paginationOf(page, perPage, total) }
  },
})

/** Needs both the upload's receipt and an account. */
export const claimByReceipt = keyedEndpoint({
  summary: 'Claim a guest’s upload',
  description: 'Moves it into the account. Its link stays, and the receipt ends.',
  tag: 'Uploads',
  params,
  body: z.object({ folder: folderPlace }),
  answer: uploadResult,
  errors: [400, 404, 413, 429],
  async handle({ call, caller, body }, { uploads }: Pick<ReceiptNeeds, 'uploads'>) {
    const place = parseFolderPlace(body.folder)
    const file = await uploads.receipts.claim(receiptOf(call), { reach: caller, place })
    return { ...toStoredUpload(call.site, file), message: 'The file is in the account' }
  },
})
