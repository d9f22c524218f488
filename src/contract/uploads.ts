import * as z from 'zod/mini'
import { UPLOAD_STATUSES } from '../domain/upload-terms.ts'
import { component, dataOf, described, extended, timestampField, uuidField } from './fields.ts'

export const uploadStatuses = z.enum(UPLOAD_STATUSES)

const receiptField = described(z.optional(z.string()), {
  description:
    'Of an upload by a guest: /r/{receipt} is the page that changes or deletes it, /api/v1/receipt/{receipt} the same for programs, where GET and DELETE also show and withdraw what came by an upload link',
})
export const receivedField = described(z.int(), { description: 'Bytes that are safe' })
export const totalField = described(z.nullable(z.int()), { description: 'null while nobody has said it' })

export const uploadResult = component(
  'UploadResult',
  z.object({
    success: z.literal(true),
    message: z.string(),
    slug: z.string(),
    url: z.string(),
    file_id: z.int(),
    thumbnail_url: z.string(),
    uuid: uuidField,
    size: z.int(),
    sha256: z.string(),
    receipt: receiptField,
  }),
)
export type UploadResult = z.infer<typeof uploadResult>

export const unfinishedUpload = component(
  'UnfinishedUpload',
  z.object({
    status: uploadStatuses,
    name: z.string(),
    received: receivedField,
    size: totalField,
    slug: described(z.optional(z.string()), {
      description: 'Also names a part, to whoever cancels it; not told of what comes by an upload link',
    }),
    url: described(z.optional(z.string()), {
      description: 'The public page; a part never gets one, and what comes by an upload link is the owner’s',
    }),
    last_modified: described(z.nullable(z.int()), {
      description:
        'When the file was last changed, in milliseconds since 1970, as the metadata said; null where it did not',
    }),
    created_at: timestampField,
    expires_at: timestampField,
  }),
)
export type UnfinishedUpload = z.infer<typeof unfinishedUpload>

export const startedUpload = extended(unfinishedUpload, {
  success: z.literal(true),
  location: z.string(),
  receipt: receiptField,
})
export type StartedUpload = z.infer<typeof startedUpload>

const completedUpload = extended(uploadResult, { status: z.literal('completed'), received: z.int() })
export type CompletedUpload = z.infer<typeof completedUpload>

/** Hides the folder's content and the file's address. */
export const contributionResult = component(
  'ContributionResult',
  z.object({
    success: z.literal(true),
    message: z.string(),
    size: z.int(),
    sha256: z.string(),
    receipt: described(z.string(), {
      description:
        'GET /api/v1/receipt/{receipt} shows what was sent, DELETE withdraws it as long as the link is in force; /r/{receipt} is a page for it',
    }),
  }),
)
export type ContributionResult = z.infer<typeof contributionResult>

const completedContribution = extended(contributionResult, {
  status: z.literal('completed'),
  received: z.int(),
})
export type CompletedContribution = z.infer<typeof completedContribution>

const presentUpload = extended(unfinishedUpload, { success: z.literal(true) })
export type PresentUpload = z.infer<typeof presentUpload>

export const uploadAnswer = z.union([completedUpload, completedContribution, presentUpload])

export const listedUpload = component(
  'ListedUpload',
  extended(unfinishedUpload, {
    slug: described(z.string(), { description: 'Also names a part, to whoever cancels it' }),
    location: described(z.string(), {
      description:
        'Where the upload goes on, for its owner: with the scopes "upload" and "manage" the same as the address that it began with',
    }),
    folder: described(z.nullable(z.string()), {
      description:
        'Identifier of the folder that the upload named, in its metadata or by X-Folder-ID; null for the top level',
    }),
    path: described(z.nullable(z.string()), {
      description: 'Path inside that folder, as the metadata said (`relativePath`); null where it did not',
    }),
  }),
)
export type ListedUpload = z.infer<typeof listedUpload>

export const uploadsAnswer = dataOf(z.array(listedUpload))

export const uploadStatus = component(
  'UploadStatus',
  z.object({
    slug: z.string(),
    status: uploadStatuses,
    received: receivedField,
    size: totalField,
    upload_date: timestampField,
    thumbnail_url: z.string(),
    has_thumbnail: z.boolean(),
    thumbnail: described(z.enum(['pending', 'ready', 'none']), {
      description: 'Whether a thumbnail is there, may still come, or will not',
    }),
  }),
)
export type UploadStatus = z.infer<typeof uploadStatus>

export const UPLOADS_PATH = '/api/v1/uploads'
