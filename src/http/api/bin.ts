import { z } from '@hono/zod-openapi'
import { timestamp } from '../../domain/clock.ts'
import {
  type BinEntryId,
  type FolderIdentifier,
  parseFileIdentifier,
  parseFolderPlace,
} from '../../domain/ids.ts'
import type { BinEntry, BinOutcome } from '../../services/bin.ts'
import type { Site } from '../call.ts'
import { keyedRoute } from '../route.ts'
import {
  fileIdentifier,
  folderPlace,
  MAX_PAGE,
  pagination,
  paginationOf,
  queryNumber,
  success,
  timestampField,
} from './fields.ts'

const binEntry = z
  .object({
    id: z.number().int(),
    kind: z.enum(['file', 'folder']),
    name: z.string(),
    size: z.number().int().openapi({ description: 'Bytes, of a folder those of all that is in it' }),
    files: z.number().int().openapi({ description: 'How many files it is' }),
    type: z.string().nullable().openapi({ description: 'Of a file' }),
    uuid: z.uuid().nullable().openapi({ description: 'Of a file' }),
    slug: z.string().nullable().openapi({ description: 'Of a file' }),
    identifier: z.string().nullable().openapi({ description: 'Of a folder' }),
    folder_id: z
      .string()
      .nullable()
      .openapi({ description: 'The folder that it was in, or "root"; null when that is gone' }),
    folder_name: z.string().nullable(),
    binned_at: timestampField,
    expires_at: timestampField.openapi({ description: 'When it is deleted for good' }),
    restoring: z.boolean().openapi({ description: 'Whether it is coming back' }),
  })
  .openapi('BinEntry')

function toBinEntry(site: Site, entry: BinEntry): z.infer<typeof binEntry> {
  return {
    id: entry.id,
    kind: entry.file_id === null ? 'folder' : 'file',
    name: entry.file_name ?? entry.folder_name ?? '',
    size: entry.bytes,
    files: entry.files,
    type: entry.file_type,
    uuid: entry.file_uuid,
    slug: entry.file_slug,
    identifier: entry.folder_identifier,
    folder_id: entry.placeIsThere ? (entry.place_identifier ?? 'root') : null,
    folder_name: entry.place_identifier === null ? null : entry.place_name,
    binned_at: timestamp(entry.binned_at),
    expires_at: timestamp(site.services.bin.expiresAt(entry)),
    restoring: entry.restoring === 1,
  }
}

const MOST = 200

/** Some of both kinds, together at least one and at most as many as a batch may have. */
const things = z
  .object({
    files: z.array(fileIdentifier, 'must be a list of identifiers').optional(),
    folders: z.array(z.string('must be a folder identifier'), 'must be a list of identifiers').optional(),
  })
  .refine(({ files = [], folders = [] }) => files.length + folders.length > 0, {
    path: ['files'],
    message: 'must hold at least one identifier, or "folders" must',
  })
  .refine(({ files = [], folders = [] }) => files.length + folders.length <= MOST, {
    path: ['files'],
    message: `may hold ${MOST} identifiers at most, together with "folders"`,
  })

const entries = z
  .array(z.number().int().min(1), 'must be a list of numbers of entries')
  .min(1, 'must hold at least one number')
  .max(MOST, `may hold ${MOST} numbers at most`)

const entryResults = z.array(
  z.object({ entry: z.number().int(), success: z.boolean(), error: z.string().optional() }),
)

export const putIntoBin = keyedRoute({
  method: 'post',
  path: '/api/v1/bin',
  summary: 'Put up to 200 files and folders into the bin, from which they can be restored',
  tag: 'Bin',
  body: things,
  answer: z.object({
    success,
    message: z.string(),
    data: z.object({
      binned: z.number().int(),
      failed: z.number().int(),
      results: z.array(
        z.object({
          file: z.string().optional(),
          folder: z.string().optional(),
          success: z.boolean(),
          entry: z.number().int().optional(),
          error: z.string().optional(),
        }),
      ),
    }),
  }),
  errors: [400, 413],
  async handle({ call, caller, body }) {
    const files = [...new Set(body.files)]
    const folders = [...new Set(body.folders)]
    const outcomes = await call.site.services.bin.put(caller.account, [
      ...files.map((file) => ({ kind: 'file', file: parseFileIdentifier(file) }) as const),
      ...folders.map((folder) => ({ kind: 'folder', folder: folder as FolderIdentifier }) as const),
    ])
    const named = [...files.map((file) => ({ file })), ...folders.map((folder) => ({ folder }))]
    const results = named.map((name, index) => {
      const outcome = outcomes[index]
      if (outcome?.done === true) return { ...name, success: true, entry: outcome.entry }
      return { ...name, success: false, error: outcome?.error }
    })
    const binned = outcomes.filter((outcome) => outcome.done).length
    return {
      success: binned === results.length,
      message: `Put ${binned} of ${results.length} into the bin`,
      data: { binned, failed: results.length - binned, results },
    }
  },
})

export const listBin = keyedRoute({
  method: 'get',
  path: '/api/v1/bin',
  summary: 'List what is in your bin, what came last first',
  tag: 'Bin',
  query: z.object({ page: queryNumber(1, MAX_PAGE).optional(), per_page: queryNumber(1, 100).optional() }),
  answer: z.object({ success: z.literal(true), data: z.array(binEntry), pagination }),
  errors: [400],
  async handle({ call, caller, query }) {
    const page = query.page ?? 1
    const perPage = query.per_page ?? 20
    const found = await call.site.services.bin.list(caller.account, page, perPage)
    return {
      success: true,
      data: found.entries.map((entry) => toBinEntry(call.site, entry)),
      pagination: paginationOf(page, perPage, found.total),
    }
  },
})

export const restoreFromBin = keyedRoute({
  method: 'post',
  path: '/api/v1/bin/restore',
  summary: 'Bring up to 200 things back from the bin',
  tag: 'Bin',
  body: z.object({
    entries,
    folder: folderPlace.openapi({
      description: 'Where to; without it, to where they were. A folder identifier, or "root"',
    }),
  }),
  answer: z.object({
    success,
    message: z.string(),
    data: z.object({
      restored: z.number().int(),
      failed: z.number().int(),
      results: entryResults,
    }),
  }),
  errors: [400, 404, 413],
  async handle({ call, caller, body }) {
    const place = body.folder === undefined || body.folder === null ? null : parseFolderPlace(body.folder)
    const ids = entryIds(body.entries)
    const outcomes = await call.site.services.binRestoring.restore(caller.account, ids, place)
    const { done, failed, results } = toResults(ids, outcomes)
    return {
      success: failed === 0,
      message: `Restored ${done} of ${results.length}`,
      data: { restored: done, failed, results },
    }
  },
})

export const deleteFromBin = keyedRoute({
  method: 'post',
  path: '/api/v1/bin/delete',
  summary: 'Delete up to 200 things in the bin, for good',
  tag: 'Bin',
  body: z.object({ entries }),
  answer: z.object({
    success,
    message: z.string(),
    data: z.object({ deleted: z.number().int(), failed: z.number().int(), results: entryResults }),
  }),
  errors: [400, 413],
  async handle({ call, caller, body }) {
    const ids = entryIds(body.entries)
    const outcomes = await call.site.services.binEmptying.remove(caller.account, ids)
    const { done, failed, results } = toResults(ids, outcomes)
    return {
      success: failed === 0,
      message: `Deleted ${done} of ${results.length}`,
      data: { deleted: done, failed, results },
    }
  },
})

export const emptyBin = keyedRoute({
  method: 'delete',
  path: '/api/v1/bin',
  summary: 'Delete all that is in the bin, for good',
  tag: 'Bin',
  answer: z.object({
    success: z.literal(true),
    message: z.string(),
    data: z.object({
      deleted: z.number().int(),
      size: z.number().int().openapi({ description: 'Bytes that are free again' }),
    }),
  }),
  async handle({ call, caller }) {
    const emptied = await call.site.services.binEmptying.empty(caller.account)
    return {
      success: true,
      message: 'The bin is empty',
      data: { deleted: emptied.entries, size: emptied.bytes },
    }
  },
})

function entryIds(numbers: readonly number[]): BinEntryId[] {
  return [...new Set(numbers)].map((number) => number as BinEntryId)
}

function toResults(entries: readonly BinEntryId[], outcomes: readonly BinOutcome[]) {
  const results = entries.map((entry, index) => {
    const outcome = outcomes[index]
    return outcome?.done === true
      ? { entry, success: true }
      : { entry, success: false, error: outcome?.error }
  })
  const done = outcomes.filter((outcome) => outcome.done).length
  return { done, failed: results.length - done, results }
}
