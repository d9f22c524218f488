import { z } from '@hono/zod-openapi'
import {
  type BinEntryId,
  type FolderIdentifier,
  parseFileIdentifier,
  parseFolderPlace,
} from '../../domain/ids.ts'
import { keyedRoute } from '../route.ts'
import { binEntry, entryResults, toBinEntry, toEntryResults } from './bin-answers.ts'
import {
  BATCH,
  filesAndFolders,
  folderPlace,
  MAX_PAGE,
  pagination,
  paginationOf,
  queryNumber,
  success,
} from './fields.ts'

const entries = z
  .array(z.number().int().min(1), 'must be a list of numbers of entries')
  .min(1, 'must hold at least one number')
  .max(BATCH, `may hold ${BATCH} numbers at most`)

export const putIntoBin = keyedRoute({
  method: 'post',
  path: '/api/v1/bin',
  need: 'manage',
  summary: 'Put up to 200 files and folders into the bin, from which they can be restored',
  tag: 'Bin',
  body: filesAndFolders,
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
    const outcomes = await call.site.services.bin.put(caller, [
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
  need: 'read',
  summary: 'List what is in your bin, what came last first',
  tag: 'Bin',
  query: z.object({ page: queryNumber(1, MAX_PAGE).optional(), per_page: queryNumber(1, 100).optional() }),
  answer: z.object({ success: z.literal(true), data: z.array(binEntry), pagination }),
  errors: [400],
  async handle({ call, caller, query }) {
    const page = query.page ?? 1
    const perPage = query.per_page ?? 20
    const found = await call.site.services.bin.list(caller, page, perPage)
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
  need: 'manage',
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
    const outcomes = await call.site.services.binRestoring.restore(caller, ids, place)
    const { done, failed, results } = toEntryResults(ids, outcomes)
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
  need: 'manage',
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
    const outcomes = await call.site.services.binEmptying.remove(caller, ids)
    const { done, failed, results } = toEntryResults(ids, outcomes)
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
  need: 'manage',
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
  errors: [400],
  async handle({ call, caller }) {
    const emptied = await call.site.services.binEmptying.empty(caller)
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
