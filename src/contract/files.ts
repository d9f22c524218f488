import * as z from 'zod/mini'
import {
  batchOf,
  boundedPagination,
  component,
  dataOf,
  described,
  optionalTimestamp,
  pictureField,
  secondsField,
  success,
  timestampField,
  uuidField,
} from './fields.ts'

const damagedField = described(z.optional(z.literal(true)), {
  description:
    'Present when the server has lost bytes of the file, so that it answers 500 `FILE_DAMAGED` instead',
})

export const fileListItem = component(
  'FileListItem',
  z.object({
    id: z.int(),
    uuid: uuidField,
    name: z.string(),
    size: z.int(),
    type: z.string(),
    url: z.string(),
    folder_id: z.string(),
    created_at: timestampField,
    downloads: z.int(),
    picture_url: pictureField,
    damaged: damagedField,
  }),
)
export type FileListItem = z.infer<typeof fileListItem>

export const filesAnswer = z.object({
  success: z.literal(true),
  data: z.array(fileListItem),
  pagination: boundedPagination,
})

export const fileDetail = component(
  'FileDetail',
  z.object({
    id: z.int(),
    uuid: uuidField,
    slug: z.string(),
    name: z.string(),
    size: z.int(),
    type: z.string(),
    url: z.string(),
    has_thumbnail: z.boolean(),
    created_at: timestampField,
    downloads: z.int(),
    views: z.int(),
    folder_id: z.string(),
    sha256: z.string(),
    verified_at: described(optionalTimestamp, {
      description:
        'When the server last read the stored bytes and found that they have this hash; null where it has not since they were stored',
    }),
    expires_at: described(optionalTimestamp, {
      description: 'When it is deleted unless somebody looks at it before; null: never',
    }),
    damaged: damagedField,
  }),
)
export type FileDetail = z.infer<typeof fileDetail>

export const fileAnswer = dataOf(fileDetail)

export const fileMovedAnswer = z.object({
  success: z.literal(true),
  message: z.string(),
  data: z.object({ file: z.string(), folder: z.string() }),
})

export const filesMovedAnswer = batchOf(
  z.object({
    folder: z.string(),
    moved: z.int(),
    failed: z.int(),
    results: z.array(z.object({ file: z.string(), success: z.boolean(), error: z.optional(z.string()) })),
  }),
)

export const deletion = component(
  'Deletion',
  z.object({
    success,
    message: z.string(),
    total_processed: z.int(),
    successful_deletes: z.int(),
    failed_deletes: z.int(),
    files_deleted: z.int(),
  }),
)
export type Deletion = z.infer<typeof deletion>

export const archiveAddressAnswer = dataOf(z.object({ url: z.string(), expires_in: secondsField }))
