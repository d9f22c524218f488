import { z } from '@hono/zod-openapi'
import { Refusal } from '../../domain/errors.ts'
import { type FolderIdentifier, type FolderPlace, parseFolderPlace } from '../../domain/ids.ts'
import { boundedNfc } from '../../domain/measured-text.ts'
import { LARGE_JSON } from '../body.ts'
import { keyedRoute } from '../route.ts'
import { deletion, toDeletion } from './deletion.ts'
import {
  assertKnownFields,
  batch,
  dataOf,
  folderPlace,
  identifierParameter,
  READ_ONLY_ALLOWED,
  success,
} from './fields.ts'
import { folderDetail, folderListItem, toFolderListItem } from './folder-answers.ts'

const publicFlag = z
  .union([z.boolean(), z.literal([1, 0]), z.literal(['1', '0'])], 'must be 1 (public) or 0 (private)')
  .transform((flag) => flag === true || flag === 1 || flag === '1')
  .openapi({ enum: [1, 0, '1', '0', true, false] })

const LONGEST_PASSWORD = 128

const password = z
  .string('must be text')
  .refine(
    (text) => boundedNfc(text, LONGEST_PASSWORD) !== null,
    `may have ${LONGEST_PASSWORD} characters at most`,
  )
  .nullish()
  .transform((text) => (text === '' ? null : text))

export const createFolder = keyedRoute({
  method: 'post',
  path: '/api/v1/folder',
  need: 'upload',
  summary: 'Create a folder',
  tag: 'Folders',
  body: z.object({
    name: z.string('must be the name of the folder'),
    parent: folderPlace,
    parent_id: folderPlace,
    public: publicFlag.optional(),
    password,
  }),
  status: 201,
  answer: z.object({
    success: z.literal(true),
    message: z.string(),
    data: z.object({
      identifier: z.string(),
      name: z.string(),
      hasPassword: z.boolean(),
      parent: z.string(),
    }),
  }),
  errors: [400, 404, 409, 413],
  async handle({ call, caller, body }) {
    const folder = await call.site.services.folders.create(caller, {
      name: body.name,
      parent: parseFolderPlace(body.parent ?? body.parent_id),
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

export const changeFolder = keyedRoute({
  method: 'patch',
  path: '/api/v1/folder/{identifier}',
  need: 'manage',
  summary: 'Rename a folder, move it, publish or hide it, set or remove its password',
  tag: 'Folders',
  params: identifierParameter,
  body: z
    .looseObject({
      name: z.string('must be the name of the folder').optional(),
      parent: folderPlace,
      parent_id: folderPlace,
      public: publicFlag.optional(),
      password,
    })
    .openapi({ description: READ_ONLY_ALLOWED }),
  answer: dataOf(folderListItem),
  errors: [400, 404, 409, 413],
  async handle({ call, caller, params, body }) {
    assertKnownFields(body, ['password', ...Object.keys(folderDetail.shape)])
    const identifier = (params.identifier ?? '') as FolderIdentifier
    const { folders } = call.site.services
    const places = [body.parent, body.parent_id].filter((place) => place !== undefined).map(parseFolderPlace)
    const parent = await newParent(
      places,
      async () => (await folders.get(caller, identifier)).parent_identifier,
    )
    const folder = await folders.change(caller, identifier, {
      ...(body.name === undefined ? {} : { name: body.name }),
      ...(parent === undefined ? {} : { parent }),
      ...(body.public === undefined ? {} : { isPublic: body.public }),
      ...(body.password === undefined ? {} : { password: body.password }),
    })
    return { success: true, data: toFolderListItem(folder) }
  },
})

/**
 * Where to, by the two names that the field has. Whoever sends back a folder with one of them changed means that one. Throws
 * Refusal INVALID_REQUEST when both name another place than the present one.
 */
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

export const moveFolder = keyedRoute({
  method: 'post',
  path: '/api/v1/folder/move',
  need: 'manage',
  summary: 'Move a folder with everything inside it',
  tag: 'Folders',
  body: z.object({ folder: z.string('must be a folder identifier'), parent: folderPlace }),
  answer: z.object({
    success: z.literal(true),
    message: z.string(),
    data: z.object({ folder: z.string(), parent: z.string(), folders_updated: z.number().int() }),
  }),
  errors: [400, 404, 409, 413],
  async handle({ call, caller, body }) {
    const parent = parseFolderPlace(body.parent)
    const folder = body.folder as FolderIdentifier
    const folders_updated = await call.site.services.folderMoves.move(caller, folder, parent)
    return { success: true, message: 'Folder moved', data: { folder, parent, folders_updated } }
  },
})

export const moveFolders = keyedRoute({
  method: 'post',
  path: '/api/v1/folders/move',
  need: 'manage',
  summary: 'Move up to 200 folders with everything inside them',
  bodyLimit: LARGE_JSON,
  tag: 'Folders',
  body: z.object({ folders: batch(z.string('must be a folder identifier')), parent: folderPlace }),
  answer: z.object({
    success,
    message: z.string(),
    data: z.object({
      parent: z.string(),
      moved: z.number().int(),
      failed: z.number().int(),
      results: z.array(
        z.object({
          folder: z.string(),
          success: z.boolean(),
          folders_updated: z.number().int().optional(),
          error: z.string().optional(),
        }),
      ),
    }),
  }),
  errors: [400, 404, 413],
  async handle({ call, caller, body }) {
    const parent = parseFolderPlace(body.parent)
    const folders = body.folders.map((folder) => folder as FolderIdentifier)
    const outcomes = await call.site.services.folderMoves.moveMany(caller, folders, parent)
    const results = outcomes.map(({ folder, outcome }) =>
      outcome.moved
        ? { folder, success: true, folders_updated: outcome.foldersUpdated }
        : { folder, success: false, error: outcome.error },
    )
    const moved = results.filter((result) => result.success).length
    return {
      success: moved === results.length,
      message: `Moved ${moved} of ${results.length} folders`,
      data: { parent, moved, failed: results.length - moved, results },
    }
  },
})

export const deleteFolders = keyedRoute({
  method: 'post',
  path: '/folder/delete',
  need: 'manage',
  summary: 'Delete folders and all files inside them, for good',
  bodyLimit: LARGE_JSON,
  tag: 'Folders',
  body: z.object({
    identifiers: z
      .array(z.string('must be a folder identifier'), 'must be a list of identifiers')
      .min(1, 'must hold at least one identifier'),
  }),
  answer: deletion,
  errors: [400, 413],
  async handle({ call, caller, body }) {
    const identifiers = [...new Set(body.identifiers)].map((identifier) => identifier as FolderIdentifier)
    const counts = await call.site.services.removals.folders(caller, identifiers)
    return toDeletion(counts, 'folders')
  },
})
