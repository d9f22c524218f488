import { z } from '@hono/zod-openapi'
import { type FileId, parseFileIdentifier, parseFolderPlace } from '../../domain/ids.ts'
import { ARCHIVE_TOKEN_LIFETIME } from '../../services/archive-tokens.ts'
import { keyedCaller } from '../call.ts'
import { archiveAnswers, sendArchive } from '../content/archives.ts'
import { keyedRoute, type Route } from '../route.ts'
import { batch, dataOf, fileIdentifier, identifierParameter } from './fields.ts'

export const downloadFolder: Route = {
  method: 'get',
  path: '/api/v1/folder/{identifier}/download',
  auth: 'key',
  documentation: {
    summary: 'A folder with its subfolders as one ZIP file; "root" is all that you have',
    tag: 'Folders',
    params: identifierParameter,
    answers: archiveAnswers,
    errors: [400, 404, 412, 416],
  },
  streams: 'out',
  async handle(call) {
    const { account } = await keyedCaller(call)
    const { archives, folders } = call.site.services
    const place = parseFolderPlace(call.params.identifier)
    const whose = { folder: null, isOwner: true }
    if (place === 'root') return sendArchive(call, await archives.everything(account), whose)
    const folder = await folders.get(account, place)
    const archive = await archives.folder({ account, grants: new Map() }, folder.id)
    return sendArchive(call, archive, { ...whose, folder: folder.name })
  },
}

export const signArchive = keyedRoute({
  method: 'post',
  path: '/api/v1/files/download',
  summary: 'Get a signed address of up to 200 of your files as one ZIP file',
  tag: 'Files',
  body: z.object({ files: batch(fileIdentifier) }),
  answer: dataOf(
    z.object({ url: z.string(), expires_in: z.number().int().openapi({ description: 'Seconds' }) }),
  ),
  errors: [400, 404, 413],
  async handle({ call, caller, body }) {
    const { archiveTokens, files } = call.site.services
    const ids = new Set<FileId>()
    for (const identifier of body.files) {
      ids.add((await files.get(caller.account, parseFileIdentifier(identifier))).id)
    }
    const token = archiveTokens.issue(caller.account, [...ids])
    return {
      success: true,
      data: { url: `${call.site.contentUrl}/z/${token}`, expires_in: ARCHIVE_TOKEN_LIFETIME },
    }
  },
})
