/** What the client reads of the server's answers: these fields alone, so that it gets on with servers that lack others. */
import * as z from 'zod/mini'
import { account as accountShape } from '../contract/account.ts'
import { webhookDelivery as deliveryShape, webhook as webhookShape } from '../contract/events.ts'
import { pagination } from '../contract/fields.ts'
import { deletion as deletionShape, fileListItem, fileDetail as fileShape } from '../contract/files.ts'
import { folderCreatedAnswer, folderListItem } from '../contract/folders.ts'
import { contribution, linkEvent, link as linkShape, transferMade } from '../contract/links.ts'
import { signedAddress as addressShape, publicFolder as publicFolderShape } from '../contract/public.ts'
import { receiptContribution, receiptLink, receiptTransfer, receiptUpload } from '../contract/receipts.ts'
import { uploadResult } from '../contract/uploads.ts'

const fileItem = z.pick(fileListItem, {
  id: true,
  uuid: true,
  name: true,
  size: true,
  type: true,
  url: true,
  folder_id: true,
  created_at: true,
  downloads: true,
})
export type FileItem = z.infer<typeof fileItem>

export const fileList = z.object({
  data: z.array(fileItem),
  pagination: z.pick(pagination, { page: true, pages: true, total: true }),
})

export const fileDetailFields = z.object({
  data: z.pick(fileShape, {
    id: true,
    uuid: true,
    name: true,
    size: true,
    type: true,
    url: true,
    folder_id: true,
    created_at: true,
    downloads: true,
    slug: true,
    views: true,
    sha256: true,
    expires_at: true,
  }),
})
export type FileDetailFields = z.infer<typeof fileDetailFields>['data']

const folderItem = z.pick(folderListItem, {
  id: true,
  name: true,
  public: true,
  file_count: true,
  created_at: true,
  parent: true,
  has_password: true,
})
export type FolderItem = z.infer<typeof folderItem>

export const folderListFields = z.object({ data: z.array(folderItem) })

export const folderCreated = z.object({
  data: z.pick(folderCreatedAnswer.shape.data, { identifier: true, name: true }),
})

export const accountFields = z.object({
  data: z.pick(accountShape, {
    id: true,
    username: true,
    storage_used: true,
    storage_limit: true,
    files_count: true,
    folders_count: true,
    api_requests_today: true,
  }),
})
export type AccountFields = z.infer<typeof accountFields>['data']

export const uploaded = z.pick(uploadResult, {
  slug: true,
  url: true,
  file_id: true,
  uuid: true,
  size: true,
  sha256: true,
  receipt: true,
})
export type Uploaded = z.infer<typeof uploaded>

export const transferFields = z.object({
  data: z.pick(transferMade.shape.data, { url: true, slug: true, folder: true }),
  receipt: z.optional(z.string()),
})

export const madeTransfer = z.object({
  url: z.string(),
  slug: z.string(),
  folder: z.string(),
  /** Null in an account. */
  receipt: z.nullable(z.string()),
})
export type MadeTransfer = z.infer<typeof madeTransfer>

/** A file, or a transfer as a whole. */
export const claimedReceipt = z.union([uploaded, z.object({ message: z.string() })])

const receiptUploadFields = z.pick(receiptUpload, {
  kind: true,
  status: true,
  name: true,
  received: true,
  size: true,
  url: true,
  created_at: true,
  expires_at: true,
  views: true,
  downloads: true,
  sha256: true,
})
export type ReceiptUploadFields = z.infer<typeof receiptUploadFields>

const shownOfLink = {
  kind: true,
  url: true,
  title: true,
  state: true,
  has_password: true,
  ends_at: true,
  downloads: true,
  max_downloads: true,
  files: true,
  created_at: true,
} as const
const receiptLinkFields = z.union([z.pick(receiptLink, shownOfLink), z.pick(receiptTransfer, shownOfLink)])
export type ReceiptLinkFields = z.infer<typeof receiptLinkFields>

export const receiptFields = z.object({
  data: z.union([receiptLinkFields, receiptContribution, receiptUploadFields]),
})
export type ReceiptContributionFields = z.infer<typeof receiptContribution>
export type ReceiptFields = z.infer<typeof receiptFields>['data']

export const deletionFields = z.pick(deletionShape, { successful_deletes: true, failed_deletes: true })
export type DeletionFields = z.infer<typeof deletionFields>

export const signedAddressFields = z.pick(addressShape, { file: true, name: true, server: true, token: true })
export type SignedAddress = z.infer<typeof signedAddressFields>

const { folders, files } = publicFolderShape.shape

export const publicFolderFields = z.object({
  ...z.pick(publicFolderShape, { name: true, pages: true }).shape,
  folders,
  files: z.array(z.pick(files.def.element, { slug: true, name: true, size: true })),
})
export type PublicFolder = z.infer<typeof publicFolderFields>

const linkItem = z.pick(linkShape, {
  slug: true,
  url: true,
  title: true,
  has_password: true,
  ends_at: true,
  max_downloads: true,
  downloads: true,
  state: true,
  created_at: true,
  uploads: true,
})
export type LinkItem = z.infer<typeof linkItem>

const contributionItem = z.pick(contribution, {
  name: true,
  size: true,
  file: true,
  arriving: true,
  sender: true,
  address: true,
  reference: true,
  created_at: true,
})
export type ContributionItem = z.infer<typeof contributionItem>

export const contributionList = z.object({
  data: z.array(contributionItem),
  pagination: z.pick(pagination, { pages: true }),
})

export const ownLinkFields = z.object({
  data: z.object({
    ...linkItem.shape,
    targets: z.object({ folders: z.array(z.object({ id: z.string(), name: z.string() })) }),
  }),
})
export type OwnLinkFields = z.infer<typeof ownLinkFields>['data']

export const folderFields = z.object({
  data: z.object({
    id: z.string(),
    name: z.string(),
    path: z.array(z.object({ id: z.string(), name: z.string() })),
  }),
})
export type FolderFields = z.infer<typeof folderFields>['data']

export const linkFields = z.object({ data: linkItem })
export const linkList = z.object({
  data: z.array(linkItem),
  pagination: z.pick(pagination, { pages: true }),
})

/** A later version of the server may have more kinds. */
const linkLogItem = z.object({
  ...z.pick(linkEvent, { at: true, file: true, bytes: true, times: true, address: true }).shape,
  kind: z.string(),
  reason: z.nullable(z.string()),
})
export type LinkLogItem = z.infer<typeof linkLogItem>

export const linkLogList = z.object({
  data: z.array(linkLogItem),
  pagination: z.pick(pagination, { pages: true }),
})

const webhookItem = z.object({
  ...z.pick(webhookShape, { id: true, url: true, failing_since: true, disabled_at: true }).shape,
  // A later version of the server may have more.
  kinds: z.nullable(z.array(z.string())),
})
export type WebhookItem = z.infer<typeof webhookItem>

export const webhookList = z.object({ data: z.array(webhookItem) })
export const newWebhook = z.object({ data: z.object({ id: z.int(), secret: z.string() }) })
export type NewWebhook = z.infer<typeof newWebhook>['data']

const deliveryItem = z.object({
  ...z.pick(deliveryShape, { id: true, event: true, at: true, next_at: true, status: true }).shape,
  kind: z.string(),
  state: z.string(),
  failure: z.nullable(z.string()),
})
export type WebhookDeliveryItem = z.infer<typeof deliveryItem>

export const deliveryList = z.object({ data: z.array(deliveryItem) })
