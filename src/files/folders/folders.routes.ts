import { z } from '@hono/zod-openapi'
import { changedAnswer } from '../../contract/fields.ts'
import { deletion } from '../../contract/files.ts'
import {
  type FolderFileItem,
  type FolderListItem,
  folderAnswer,
  folderChangedAnswer,
  folderCreatedAnswer,
  folderDetail,
  folderFilesAnswer,
  folderMovedAnswer,
  foldersAnswer,
  foldersMovedAnswer,
  folderThumbnailAnswer,
  subfoldersAnswer,
} from '../../contract/folders.ts'
import { type AccountCaller, mayRead } from '../../core/callers.ts'
import { holderOf } from '../../core/shares.ts'
import { timestamp } from '../../domain/clock.ts'
import { Refusal } from '../../domain/errors.ts'
import {
  type FolderIdentifier,
  type FolderPlace,
  parseFolderIdentifier,
  parseFolderPlace,
} from '../../domain/ids.ts'
import { formatSize } from '../../domain/sizes.ts'
import { JsonAnswer } from '../../server/answers/answers.ts'
import { type Call, fileUrl, type Site } from '../../server/call.ts'
import { endpoint, fileField, keyedEndpoint } from '../../server/endpoint.ts'
import { readFormData } from '../../server/requests/body.ts'
import {
  assertChange,
  batch,
  folderPlace,
  identifierParameter,
  identifiersOf,
  MAX_PAGE,
  newPassword,
  paginationOf,
  queryNumber,
  READ_ONLY_ALLOWED,
} from '../../server/requests/fields.ts'
import type { Covers } from '../../thumbnails/covers.ts'
import { thumbnailPath } from '../../thumbnails/thumbnails.ts'
import { batchResults } from '../batches.ts'
import type { FileListRow } from '../file-lists.rows.ts'
import type { FilesModule } from '../files.module.ts'
import { listed, listQuery } from '../files.routes.ts'
import { toDeletion } from '../removals.ts'
import type { FolderListRow } from './folders.rows.ts'

const publicFlag = z
  .union(
    [
      z.boolean(),
      z.literal([1, 0]).openapi({ type: 'integer', enum: [1, 0] }),
      z.literal(['1', '0']).openapi({ type: 'string', enum: ['1', '0'] }),
    ],
    'must be 1 (public) or 0 (private)',
  )
  .openapi({}, { unionPreferredType: 'oneOf' })
  .transform((flag) => flag === true || flag === 1 || flag === '1')

export const createFolderEndpoint = keyedEndpoint({
  summary: 'Create a folder',
  tag: 'Folders',
  body: z.object({
    name: z.string('must be the name of the folder'),
    parent: folderPlace,
    parent_id: folderPlace,
    public: publicFlag.optional(),
    password: newPassword,
  }),
  status: 201,
  answer: folderCreatedAnswer,
  errors: [400, 404, 409, 413],
  async handle({ caller, body }, { files }: { files: FilesModule }) {
    const parent = await newParent(placesNamed(body), async () => null)
    const folder = await files.folders.create(caller, {
      name: body.name,
      parent: parent ?? 'root',
      isPublic: body.public ?? true,
      password: body.password ?? null,
    })
    return {
      success: true,
      message: 'Folder created',
      data: {
        identifier: folder.identifier,
        name: folder.name,
        hasPassword: folder.password_hash !== null,
        parent: folder.parent_identifier ?? 'root',
      },
    }
  },
})

const CHANGE_FIELDS = [
  'password',
  ...Object.keys(folderDetail.shape),
  ...Object.keys(folderCreatedAnswer.shape.data.shape),
]

export const changeFolderEndpoint = keyedEndpoint({
  summary: 'Update a folder',
  description: 'Renames, moves, publishes or hides it, sets or removes its password.',
  tag: 'Folders',
  params: identifierParameter,
  body: z
    .looseObject({
      name: z.string('must be the name of the folder').optional(),
      parent: folderPlace,
      parent_id: folderPlace,
      public: publicFlag.optional(),
      password: newPassword,
    })
    .openapi({ description: READ_ONLY_ALLOWED }),
  answer: changedAnswer(folderChangedAnswer),
  errors: [400, 404, 409, 413],
  async handle({ caller, params, body }, { files }: { files: FilesModule }) {
    assertChange(body, CHANGE_FIELDS)
    const identifier = parseFolderIdentifier(params.identifier)
    const parent = await newParent(
      placesNamed(body),
      async () => (await files.folders.get(caller, identifier)).parent_identifier,
    )
    const folder = await files.folders.change(caller, identifier, {
      ...(body.name === undefined ? {} : { name: body.name }),
      ...(parent === undefined ? {} : { parent }),
      ...(body.public === undefined ? {} : { isPublic: body.public }),
      ...(body.password === undefined ? {} : { password: body.password }),
    })
    if (!mayRead(caller)) return { success: true, message: 'Folder changed' }
    return { success: true, data: toFolderListItem(folder) }
  },
})

function placesNamed(body: {
  parent?: string | null | undefined
  parent_id?: string | null | undefined
}): FolderPlace[] {
  return [body.parent, body.parent_id].filter((place) => place !== undefined).map(parseFolderPlace)
}

/** The name that a client changed wins. Throws Refusal INVALID_REQUEST when both were changed. */
async function newParent(
  places: readonly FolderPlace[],
  present: () => Promise<FolderIdentifier | null>,
): Promise<FolderPlace | undefined> {
  const [first, second = first] = places
  if (first === second) return first
  const old = (await present()) ?? 'root'
  const others = places.filter((place) => place !== old)
  if (others.length === 1) return others[0]
  throw new Refusal('INVALID_REQUEST', '"parent" and "parent_id" name different folders; send one of them')
}

export const moveFolderEndpoint = keyedEndpoint({
  summary: 'Move a folder',
  description: 'With everything inside it.',
  tag: 'Folders',
  body: z.object({ folder: z.string('must be a folder identifier'), parent: folderPlace }),
  answer: folderMovedAnswer,
  errors: [400, 404, 409, 413],
  async handle({ caller, body }, { files }: { files: FilesModule }) {
    const parent = parseFolderPlace(body.parent)
    const folder = parseFolderIdentifier(body.folder)
    const folders_updated = await files.folders.move(caller, folder, parent)
    return { success: true, message: 'Folder moved', data: { folder, parent, folders_updated } }
  },
})

export const moveFoldersEndpoint = keyedEndpoint({
  summary: 'Move folders',
  description: 'Up to 200, with everything inside them.',
  tag: 'Folders',
  body: z.object({ folders: batch(z.string('must be a folder identifier')), parent: folderPlace }),
  answer: foldersMovedAnswer,
  errors: [400, 404, 413],
  async handle({ caller, body }, { files }: { files: FilesModule }) {
    const parent = parseFolderPlace(body.parent)
    const folders = body.folders.map(parseFolderIdentifier)
    const outcomes = await files.folders.moveMany(caller, folders, parent)
    const names = body.folders.map((folder) => ({ folder }))
    const moves = batchResults(names, outcomes, (folders_updated) => ({ folders_updated }))
    const { done: moved, failed, results } = moves
    return {
      success: failed === 0,
      message: `Moved ${moved} of ${results.length} folders`,
      data: { parent, moved, failed, results },
    }
  },
})

export const deleteFoldersEndpoint = keyedEndpoint({
  summary: 'Delete folders',
  description: 'With all files inside them, for good.',
  tag: 'Folders',
  body: z.object({
    identifiers: identifiersOf(
      z.string('must be a folder identifier').openapi({ example: 'k7w2m9x4q1z8v3b6' }),
    ),
  }),
  answer: deletion,
  errors: [400, 413],
  async handle({ caller, body }, { files }: { files: FilesModule }) {
    const identifiers = [...new Set(body.identifiers)].map(parseFolderIdentifier)
    const counts = await files.removals.folders(caller, identifiers)
    return toDeletion(counts, 'folders')
  },
})

export const listFoldersEndpoint = keyedEndpoint({
  summary: 'List folders',
  tag: 'Folders',
  query: z.object({
    parent: z
      .string()
      .optional()
      .openapi({ description: 'Only those directly in this folder; "root" for the top level' }),
  }),
  answer: foldersAnswer,
  errors: [404],
  async handle({ caller, query }, { files }: { files: FilesModule }) {
    const parent = query.parent === undefined || query.parent === '' ? null : parseFolderPlace(query.parent)
    const folders = await files.folders.list(caller, parent)
    return { success: true, data: folders.map(toFolderListItem) }
  },
})

export const listSubfoldersEndpoint = keyedEndpoint({
  summary: 'List the subfolders of a folder',
  description: 'Those directly in it: all of them, or page by page.',
  tag: 'Folders',
  params: identifierParameter,
  query: z.object({
    page: queryNumber(1, MAX_PAGE).optional(),
    per_page: queryNumber(1, 100).optional(),
    sort: z.enum(['name', 'created_at']).optional().openapi({
      description:
        'Of pages. By name: naturally, so "folder 2" before "folder 10", without regard to case and accents',
    }),
    order: z.enum(['asc', 'desc']).optional(),
  }),
  answer: subfoldersAnswer,
  errors: [400, 404],
  async handle({ caller, params, query }, { files }: { files: FilesModule }) {
    const place = parseFolderPlace(params.identifier)
    if (query.page === undefined && query.per_page === undefined) {
      return { success: true, data: (await files.folders.list(caller, place)).map(toFolderListItem) }
    }
    const page = query.page ?? 1
    const perPage = query.per_page ?? 20
    const found = await files.folders.page(caller, place, {
      page,
      perPage,
      sort: query.sort ?? 'name',
      order: query.order ?? 'asc',
    })
    return {
      success: true,
      data: found.folders.map(toFolderListItem),
      pagination: paginationOf(page, perPage, found.total),
    }
  },
})

export const getFolderEndpoint = keyedEndpoint({
  summary: 'Get a folder',
  description: 'With the folders that it is in.',
  tag: 'Folders',
  params: identifierParameter,
  answer: folderAnswer,
  errors: [404],
  async handle({ caller, params }, { files }: { files: FilesModule }) {
    const folder = await files.folders.get(caller, parseFolderIdentifier(params.identifier))
    const path = (await files.folders.above(caller, folder)).map(({ identifier, name }) => ({
      id: identifier,
      name,
    }))
    return { success: true, data: { ...toFolderListItem(folder), path } }
  },
})

/** Bytes; the route's body limit is above it. */
const MOST_SENT = 5 * 1024 * 1024

export const setFolderThumbnailEndpoint = endpoint({
  documentation: {
    summary: 'Set the thumbnail of a folder',
    description:
      'A picture of at most 5 MB, of which a smaller WebP is kept. It takes the place of an earlier one.',
    tag: 'Folders',
    body: {
      type: 'multipart/form-data',
      schema: z.object({
        folder: z.string().openapi({ description: 'Identifier of the folder' }),
        thumbnail: fileField,
      }),
    },
    answers: { 200: { description: 'Success', schema: folderThumbnailAnswer } },
    errors: [400, 404, 413, 503],
  },
  async handle(
    call,
    { files, thumbnails }: { files: FilesModule; thumbnails: { readonly covers: Covers } },
    caller: AccountCaller,
  ) {
    const form = await readFormData(call)
    const [folder, thumbnail] = [form.get('folder'), form.get('thumbnail')]
    if (typeof folder !== 'string') {
      throw new Refusal('INVALID_REQUEST', '"folder": must be the identifier of a folder')
    }
    if (!(thumbnail instanceof Blob)) {
      throw new Refusal('INVALID_REQUEST', '"thumbnail": must be a picture, with a file name')
    }
    if (thumbnail.size > MOST_SENT) {
      throw new Refusal('PAYLOAD_TOO_LARGE', `"thumbnail": may have ${formatSize(MOST_SENT)} at most`)
    }
    const identifier = parseFolderIdentifier(folder)
    await files.folders.get(caller, identifier)
    const bytes = new Uint8Array(await thumbnail.arrayBuffer())
    const picture = await thumbnails.covers.make(bytes, call.request.signal)
    const cover = await files.folders.setCover(caller, identifier, picture)
    const data = { folder: identifier, thumbnail_url: thumbnailPath(cover) }
    return new JsonAnswer({ success: true, message: 'Thumbnail set', data }, 200)
  },
})

function toFolderListItem(folder: FolderListRow): FolderListItem {
  const item = {
    id: folder.identifier,
    name: folder.name,
    public: folder.is_public === 1,
    file_count: folder.file_count,
    created_at: timestamp(folder.created_at),
    parent: folder.parent_identifier,
    parent_id: folder.parent_identifier,
    has_password: folder.password_hash !== null,
    total_files: folder.tree_files,
    total_folders: folder.tree_folders,
    total_size: folder.tree_bytes,
  }
  return folder.cover === null ? item : { ...item, thumbnail_url: thumbnailPath(folder.cover) }
}

export const listFolderFilesEndpoint = keyedEndpoint({
  summary: 'List the files of a folder',
  description: 'Those directly in it: all of them, newest first, or page by page as /files.',
  tag: 'Folders',
  params: identifierParameter,
  query: z.object(listQuery),
  answer: folderFilesAnswer,
  errors: [400, 404],
  async handle({ call, caller, params, query }, { files }: { files: FilesModule }) {
    const folder = parseFolderPlace(params.identifier)
    if (query.page === undefined && query.per_page === undefined) {
      return streamed(call, await files.walk(caller, folder))
    }
    const which = listed(query)
    const found = await files.list(caller, { ...which, folder })
    return {
      success: true,
      data: found.files.map((file) => toFolderFileItem(call.site, file)),
      pagination: paginationOf(which.page, which.perPage, found.total),
    }
  },
})

const CHUNK = 64 * 1024

/** Uses constant memory. Throws Refusal RATE_LIMITED or SERVER_BUSY. */
function streamed(call: Call, files: AsyncIterable<FileListRow>): Response {
  const { site, request } = call
  let isYielded = false
  // The body of a HEAD is never read, so it would never end.
  const holding =
    request.method === 'HEAD'
      ? null
      : site.wholeListings.begin(holderOf(call), 0, () => {
          isYielded = true
        })
  const end = () => holding?.end()
  request.signal.addEventListener('abort', end, { once: true })

  async function* json(): AsyncGenerator<Uint8Array> {
    const encoder = new TextEncoder()
    let text = '{"success":true,"data":['
    let separator = ''
    for await (const file of files) {
      text += separator + JSON.stringify(toFolderFileItem(site, file))
      separator = ','
      if (text.length < CHUNK) continue
      yield encoder.encode(text)
      text = ''
    }
    yield encoder.encode(`${text}]}`)
  }
  const chunks = json()
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        if (isYielded)
          throw new Refusal('SERVER_BUSY', 'The list was read so slowly that others took its place')
        holding?.used()
        const { done, value } = await chunks.next()
        if (!done) return controller.enqueue(value)
        end()
        controller.close()
      } catch (error) {
        end()
        throw error
      }
    },
    async cancel() {
      end()
      await chunks.return(undefined)
    },
  })
  return new Response(body, { headers: { 'Content-Type': 'application/json' } })
}

function toFolderFileItem(site: Site, file: FileListRow): FolderFileItem {
  return {
    id: file.id,
    uuid: file.uuid,
    slug: file.slug,
    name: file.name,
    size: file.size,
    type: file.type,
    url: fileUrl(site, file.slug),
    thumbnail_url: thumbnailPath(file.uuid),
    created_at: timestamp(file.created_at),
  }
}
