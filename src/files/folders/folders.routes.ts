import { z } from '@hono/zod-openapi'
import { changedAnswer } from '../../contract/fields.ts'
import { deletion } from '../../contract/files.ts'
import {
  folderChangedAnswer,
  folderCreatedAnswer,
  folderDetail,
  folderMovedAnswer,
  foldersMovedAnswer,
} from '../../contract/folders.ts'
import { mayRead } from '../../core/callers.ts'
import { Refusal } from '../../domain/errors.ts'
import {
  type FolderIdentifier,
  type FolderPlace,
  parseFolderIdentifier,
  parseFolderPlace,
} from '../../domain/ids.ts'
import { keyedEndpoint } from '../../server/endpoint.ts'
import {
  assertChange,
  batch,
  folderPlace,
  identifierParameter,
  identifiersOf,
  newPassword,
  READ_ONLY_ALLOWED,
} from '../../server/requests/fields.ts'
import { toDeletion } from '../deletion.ts'
import type { FilesPart } from '../files.part.ts'
import { toFolderListItem } from './folder-answers.ts'

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
  async handle({ caller, body }, { files }: { files: FilesPart }) {
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
  async handle({ caller, params, body }, { files }: { files: FilesPart }) {
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
  async handle({ caller, body }, { files }: { files: FilesPart }) {
    const parent = parseFolderPlace(body.parent)
    const folder = parseFolderIdentifier(body.folder)
    const folders_updated = await files.folderMoves.move(caller, folder, parent)
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
  async handle({ caller, body }, { files }: { files: FilesPart }) {
    const parent = parseFolderPlace(body.parent)
    const folders = body.folders.map(parseFolderIdentifier)
    const outcomes = await files.folderMoves.moveMany(caller, folders, parent)
    const results = outcomes.map((outcome, index) => {
      const folder = body.folders[index] ?? ''
      return outcome.moved
        ? { folder, success: true, folders_updated: outcome.foldersUpdated }
        : { folder, success: false, error: outcome.error }
    })
    const moved = results.filter((result) => result.success).length
    return {
      success: moved === results.length,
      message: `Moved ${moved} of ${results.length} folders`,
      data: { parent, moved, failed: results.length - moved, results },
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
  async handle({ caller, body }, { files }: { files: FilesPart }) {
    const identifiers = [...new Set(body.identifiers)].map(parseFolderIdentifier)
    const counts = await files.removals.folders(caller, identifiers)
    return toDeletion(counts, 'folders')
  },
})
