import { z } from '@hono/zod-openapi'
import {
  type BinEntry as BinEntryAnswer,
  binAnswer,
  binnedAnswer,
  deletedFromBinAnswer,
  emptiedAnswer,
  restoredAnswer,
} from '../../contract/bin.ts'
import { timestamp } from '../../domain/clock.ts'
import {
  type BinEntryId,
  parseFileIdentifier,
  parseFolderIdentifier,
  parseFolderPlace,
} from '../../domain/ids.ts'
import { keyedEndpoint } from '../../server/endpoint.ts'
import {
  filesAndFolders,
  folderPlace,
  MAX_PAGE,
  MOST_OF_BATCH,
  paginationOf,
  queryNumber,
} from '../../server/requests/fields.ts'
import { batchResults, type Outcome } from '../batches.ts'
import type { FilesModule } from '../files.module.ts'
import type { Bin, BinEntry } from './bin.ts'

const entries = z
  .array(z.number().int().min(1), 'must be a list of numbers of entries')
  .min(1, 'must hold at least one number')
  .max(MOST_OF_BATCH, `may hold ${MOST_OF_BATCH} numbers at most`)

export const putIntoBinEndpoint = keyedEndpoint({
  summary: 'Move to the bin',
  description: 'Up to 200 files and folders, which can be restored from there.',
  tag: 'Bin',
  body: filesAndFolders,
  answer: binnedAnswer,
  errors: [400, 413],
  async handle({ caller, body }, { files }: { files: FilesModule }) {
    const fileIds = [...new Set(body.files)]
    const folderIds = [...new Set(body.folders)]
    const outcomes = await files.bin.put(caller, [
      ...fileIds.map((file) => ({ kind: 'file', file: parseFileIdentifier(file) }) as const),
      ...folderIds.map((folder) => ({ kind: 'folder', folder: parseFolderIdentifier(folder) }) as const),
    ])
    const named = [...fileIds.map((file) => ({ file })), ...folderIds.map((folder) => ({ folder }))]
    const { done: binned, failed, results } = batchResults(named, outcomes, (entry) => ({ entry }))
    return {
      success: failed === 0,
      message: `Put ${binned} of ${results.length} into the bin`,
      data: { binned, failed, results },
    }
  },
})

export const listBinEndpoint = keyedEndpoint({
  summary: 'List the bin',
  description: 'What came last first.',
  tag: 'Bin',
  query: z.object({ page: queryNumber(1, MAX_PAGE).optional(), per_page: queryNumber(1, 100).optional() }),
  answer: binAnswer,
  errors: [400],
  async handle({ caller, query }, { files }: { files: FilesModule }) {
    const page = query.page ?? 1
    const perPage = query.per_page ?? 20
    const found = await files.bin.list(caller, page, perPage)
    return {
      success: true,
      data: found.entries.map((entry) => toBinEntry(files.bin, entry)),
      pagination: paginationOf(page, perPage, found.total),
    }
  },
})

export const restoreFromBinEndpoint = keyedEndpoint({
  summary: 'Restore from the bin',
  description: 'Up to 200 entries.',
  tag: 'Bin',
  body: z.object({
    entries,
    folder: folderPlace.openapi({
      description: 'Where to; without it, to where they were. A folder identifier, or "root"',
    }),
  }),
  answer: restoredAnswer,
  errors: [400, 404, 413],
  async handle({ caller, body }, { files }: { files: FilesModule }) {
    const place = body.folder === undefined || body.folder === null ? null : parseFolderPlace(body.folder)
    const ids = entryIds(body.entries)
    const outcomes = await files.binRestoring.restore(caller, ids, place)
    const { done, failed, results } = toEntryResults(ids, outcomes)
    return {
      success: failed === 0,
      message: `Restored ${done} of ${results.length}`,
      data: { restored: done, failed, results },
    }
  },
})

export const deleteFromBinEndpoint = keyedEndpoint({
  summary: 'Delete from the bin',
  description: 'Up to 200 entries, for good.',
  tag: 'Bin',
  body: z.object({ entries }),
  answer: deletedFromBinAnswer,
  errors: [400, 413],
  async handle({ caller, body }, { files }: { files: FilesModule }) {
    const ids = entryIds(body.entries)
    const outcomes = await files.binEmptying.remove(caller, ids)
    const { done, failed, results } = toEntryResults(ids, outcomes)
    return {
      success: failed === 0,
      message: `Deleted ${done} of ${results.length}`,
      data: { deleted: done, failed, results },
    }
  },
})

export const emptyBinEndpoint = keyedEndpoint({
  summary: 'Empty the bin',
  description: 'Deletes everything in it, for good.',
  tag: 'Bin',
  answer: emptiedAnswer,
  errors: [400],
  async handle({ caller }, { files }: { files: FilesModule }) {
    const emptied = await files.binEmptying.empty(caller)
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

function toBinEntry(bin: Pick<Bin, 'expiresAt'>, entry: BinEntry): BinEntryAnswer {
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
    expires_at: timestamp(bin.expiresAt(entry)),
    restoring: entry.restoring === 1,
  }
}

function toEntryResults(entries: readonly BinEntryId[], outcomes: readonly Outcome<void>[]) {
  const names = entries.map((entry) => ({ entry }))
  return batchResults(names, outcomes, () => ({}))
}
