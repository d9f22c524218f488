import { z } from '@hono/zod-openapi'
import {
  type FileId,
  type FolderId,
  type FolderIdentifier,
  parseFileIdentifier,
  parseFolderPlace,
} from '../../domain/ids.ts'
import { ARCHIVE_TOKEN_LIFETIME } from '../../services/archive-tokens.ts'
import { LARGE_JSON } from '../body.ts'
import { keyedCaller } from '../call.ts'
import { archiveAnswers, archiveReader, sendArchive } from '../content/archives.ts'
import { keyedRoute, type Route } from '../route.ts'
import { dataOf, filesAndFolders, identifierParameter } from './fields.ts'

export const downloadFolder: Route = {
  method: 'get',
  path: '/api/v1/folder/{identifier}/download',
  auth: 'key',
  need: 'read',
  documentation: {
    summary: 'A folder with its subfolders as one ZIP file; "root" is all that the key reaches',
    tag: 'Folders',
    params: identifierParameter,
    answers: archiveAnswers,
    errors: [400, 404, 412, 416],
  },
  streams: 'out',
  async handle(call) {
    const caller = await keyedCaller(call)
    const { archives, folders } = call.site.services
    const place = parseFolderPlace(call.params.identifier)
    const reader = archiveReader(call)
    const whose = { folder: null, isOwner: true }
    if (place === 'root') return sendArchive(call, await archives.everything(reader, caller), whose)
    const folder = await folders.get(caller, place)
    const archive = await archives.folder(reader, { account: caller.account, grants: new Map() }, folder.id)
    return sendArchive(call, archive, { ...whose, folder: folder.name })
  },
}

export const signArchive = keyedRoute({
  method: 'post',
  path: '/api/v1/files/download',
  need: 'read',
  summary: 'Get a signed address of up to 200 of your files and folders as one ZIP file',
  bodyLimit: LARGE_JSON,
  tag: 'Files',
  body: filesAndFolders,
  answer: dataOf(
    z.object({ url: z.string(), expires_in: z.number().int().openapi({ description: 'Seconds' }) }),
  ),
  errors: [400, 404, 413],
  async handle({ call, caller, body }) {
    const { archiveTokens, files, folders } = call.site.services
    const chosen = { files: new Set<FileId>(), folders: new Set<FolderId>() }
    for (const identifier of body.files ?? []) {
      chosen.files.add((await files.get(caller, parseFileIdentifier(identifier))).id)
    }
    for (const identifier of body.folders ?? []) {
      chosen.folders.add((await folders.get(caller, identifier as FolderIdentifier)).id)
    }
    const selection = { files: [...chosen.files], folders: [...chosen.folders] }
    const token = archiveTokens.issue(caller, selection)
    return {
      success: true,
      data: { url: `${call.site.contentUrl}/z/${token}`, expires_in: ARCHIVE_TOKEN_LIFETIME },
    }
  },
})
