import { z } from '@hono/zod-openapi'
import { doneWithMessage } from '../contract/fields.ts'
import { linkDetail, linkLogAnswer } from '../contract/links.ts'
import {
  type Receipted,
  type ReceiptFile,
  type ReceiptUpload,
  receiptAnswer,
  receiptFilesAnswer,
} from '../contract/receipts.ts'
import { uploadResult } from '../contract/uploads.ts'
import { optionalTime, timestamp } from '../domain/clock.ts'
import { Refusal } from '../domain/errors.ts'
import { parseFolderPlace } from '../domain/ids.ts'
import type { FilesModule } from '../files/files.module.ts'
import type { FolderListRow } from '../files/folders/folders.rows.ts'
import { JsonAnswer } from '../server/answers/answers.ts'
import { type Call, fileUrl } from '../server/call.ts'
import { keyedEndpoint, openEndpoint } from '../server/endpoint.ts'
import {
  assertChange,
  folderPlace,
  MAX_PAGE,
  paginationOf,
  queryNumber,
  unknownField,
} from '../server/requests/fields.ts'
import type { GivenReceipt, ReceivedUpload } from '../uploads/receipts.ts'
import { toStoredUpload, toUnfinishedUpload } from '../uploads/upload-answers.ts'
import type { UploadsModule } from '../uploads/uploads.module.ts'
import {
  guestTerms,
  linkUrl,
  termsOfBody,
  toLinkDetail,
  toLinkEvent,
  transferOfBody,
  transferTerms,
} from './links/links.routes.ts'
import type { SharingModule } from './sharing.module.ts'

export interface ReceiptNeeds {
  readonly files: Pick<FilesModule, 'inactivity'>
  readonly sharing: Pick<SharingModule, 'guestLinks' | 'transfers'>
  readonly uploads: UploadsModule
}

export function receiptOf({ params, bucket }: Pick<Call, 'params' | 'bucket'>): GivenReceipt {
  return { text: params.receipt ?? '', bucket }
}

export async function receipted(call: Call, modules: ReceiptNeeds): Promise<Receipted> {
  const found = await modules.uploads.receipts.look(receiptOf(call))
  switch (found.kind) {
    case 'link':
      return { kind: 'link', ...toLinkDetail(call.site, await modules.sharing.guestLinks.get(found.link)) }
    case 'transfer': {
      const { link_id, last_used_at } = await modules.sharing.transfers.ofGuest(found.transfer)
      const detail = toLinkDetail(call.site, await modules.sharing.guestLinks.get(link_id))
      const expires_at = optionalTime(modules.files.inactivity.guests?.endOf(last_used_at) ?? null)
      return { kind: 'transfer', ...detail, expires_at }
    }
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
      return toReceiptUpload(call, modules, found)
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
    'Deletes a file, also one that is still arriving, withdraws what was sent by an upload link, revokes a link, or deletes a transfer with all that is in it.',
  tag: 'Uploads',
  params,
  answer: doneWithMessage,
  errors: [404, 429],
  async handle({ call }, { sharing, uploads }: ReceiptNeeds) {
    const transfer = await uploads.receipts.transfer(receiptOf(call))
    if (transfer !== null) {
      await sharing.transfers.remove(transfer.id)
      return { success: true, message: 'The transfer was deleted, with all that was in it' }
    }
    const kind = await uploads.receipts.redeem(receiptOf(call))
    return { success: true, message: kind === 'link' ? 'The link was revoked' : 'The upload was deleted' }
  },
})

export const lookByReceipt = openEndpoint({
  summary: 'Get a receipt',
  description:
    'A file that was uploaded as a guest or sent by an upload link, or a link or transfer that a guest made. Not counted as a view.',
  tag: 'Uploads',
  params,
  answer: receiptAnswer,
  errors: [404, 429],
  async handle({ call }, modules: ReceiptNeeds) {
    return { success: true, data: await receipted(call, modules) }
  },
})

const ofLinks = [...Object.keys(guestTerms), ...Object.keys(transferTerms)].filter((term) => term !== 'name')

const change = z
  .looseObject({
    ...guestTerms,
    ...transferTerms,
    keep: z.literal(true, 'must be true').optional().openapi({
      description: 'Of an upload or a transfer: for as long as if somebody had opened it now',
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
    'Renames a file, or keeps it as if somebody had opened it now; changes the terms of a link or transfer, in force at once, and what was announced of a transfer.',
  tag: 'Uploads',
  params,
  body: change,
  answer: receiptAnswer,
  errors: [400, 404, 413, 429],
  async handle({ call, body }, modules: ReceiptNeeds) {
    const { kind } = await receipted(call, modules)
    if (kind === 'link' || kind === 'transfer') await changeLink(call, modules, body, kind)
    else await changeUpload(call, modules, body)
    return { success: true, data: await receipted(call, modules) }
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
  { keep, ...body }: z.output<typeof change>,
  kind: 'link' | 'transfer',
): Promise<void> {
  const receipt = receiptOf(call)
  const transfer = kind === 'transfer' ? await uploads.receipts.transfer(receipt) : null
  if (transfer !== null && keep === true) {
    await sharing.transfers.keep(transfer.id)
    if (Object.keys(body).length === 0) return
  }
  const ofTransfer = transfer === null ? [] : ['expires_at', ...Object.keys(transferTerms)]
  if (transfer === null && keep !== undefined) throw unknownField('keep')
  assertChange(body, ['kind', 'password', ...ofTransfer, ...Object.keys(linkDetail.shape)])
  const { uploads: _, ...terms } = termsOfBody(body)
  const wanted = { ...terms, transfer: transferOfBody(body) }
  await sharing.guestLinks.change(await uploads.receipts.link(receipt), call.bucket, wanted)
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

export const filesByReceipt = openEndpoint({
  summary: 'List the files of a guest’s transfer',
  description: 'With their thumbnails, oldest first, whatever the terms of its link. Not counted as a view.',
  tag: 'Uploads',
  params,
  query: z.object({
    page: queryNumber(1, MAX_PAGE).optional(),
    per_page: queryNumber(1, 100).optional(),
  }),
  answer: receiptFilesAnswer,
  errors: [400, 404, 429],
  async handle({ call, query }, modules: FilesByReceiptNeeds) {
    const [page, perPage] = [query.page ?? 1, query.per_page ?? 100]
    const transfer = await modules.uploads.receipts.transfer(receiptOf(call))
    if (transfer === null) throw new Refusal('NOT_FOUND', 'This receipt is not of a transfer')
    const { files, total } = await filesOfReceipt(call, modules, transfer, page, perPage)
    return { success: true, data: files, pagination: paginationOf(page, perPage, total) }
  },
})

export interface FilesByReceiptNeeds {
  readonly sharing: Pick<SharingModule, 'transfers' | 'linkNames'>
  readonly uploads: Pick<UploadsModule, 'receipts'>
}

export async function filesOfReceipt(
  call: Pick<Call, 'params'>,
  { sharing }: Pick<FilesByReceiptNeeds, 'sharing'>,
  transfer: Pick<FolderListRow, 'id' | 'identifier'>,
  page: number,
  perPage: number,
): Promise<{ readonly files: ReceiptFile[]; readonly total: number }> {
  const { link, files, total } = await sharing.transfers.files(transfer.id, page, perPage)
  const receipt = encodeURIComponent(call.params.receipt ?? '')
  const shown = files.map(({ id, name, size, type, folder_identifier, created_at }) => ({
    name,
    size,
    type,
    folder_id: folder_identifier ?? transfer.identifier,
    thumbnail_url: `/r/${receipt}/${sharing.linkNames.of(link, { kind: 'file', id })}/thumbnail`,
    created_at: timestamp(created_at),
  }))
  return { files: shown, total }
}

/** Needs both the upload's receipt and an account. */
export const claimByReceipt = keyedEndpoint({
  summary: 'Claim a guest’s upload',
  description:
    'Moves it into the account. Its link stays, and the receipt ends. A transfer is claimed whole, with its link, to the top level; while files arrive it is 409.',
  tag: 'Uploads',
  params,
  body: z.object({ folder: folderPlace }),
  answer: uploadResult,
  also: { 201: { description: 'The transfer is a folder of the account', schema: doneWithMessage } },
  errors: [400, 404, 409, 413, 429],
  async handle({ call, caller, body }, { sharing, uploads }: Pick<ReceiptNeeds, 'sharing' | 'uploads'>) {
    const place = parseFolderPlace(body.folder)
    const transfer = await uploads.receipts.transfer(receiptOf(call))
    if (transfer !== null) {
      if (place !== 'root') throw new Refusal('INVALID_REQUEST', '"folder": a transfer goes to the top level')
      await sharing.transfers.claim(transfer.id, caller)
      return new JsonAnswer({ success: true, message: 'The transfer is in the account' }, 201)
    }
    const file = await uploads.receipts.claim(receiptOf(call), { reach: caller, place })
    return { ...toStoredUpload(call.site, file), message: 'The file is in the account' }
  },
})
