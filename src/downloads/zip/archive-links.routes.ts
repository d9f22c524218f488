import { archiveAddressAnswer } from '../../contract/files.ts'
import type { AccountCaller } from '../../core/callers.ts'
import {
  type FileId,
  type FolderId,
  parseFileIdentifier,
  parseFolderIdentifier,
  parseFolderPlace,
} from '../../domain/ids.ts'
import type { FilesPart } from '../../files/files.part.ts'
import { endpoint, keyedEndpoint } from '../../server/endpoint.ts'
import { filesAndFolders, identifierParameter } from '../../server/requests/fields.ts'
import type { SharingPart } from '../../sharing/sharing.part.ts'
import type { DownloadsPart } from '../downloads.part.ts'
import { ARCHIVE_TOKEN_LIFETIME } from './archive-tokens.ts'
import { archiveAnswers, archiveReader, sendArchive } from './archives.routes.ts'

export const downloadFolderEndpoint = endpoint({
  documentation: {
    summary: 'Download a folder as a ZIP file',
    description: 'With its subfolders. "root" is all that the key reaches.',
    tag: 'Folders',
    params: identifierParameter,
    answers: archiveAnswers,
    errors: [400, 404, 412, 416],
  },
  streams: 'out',
  async handle(
    call,
    { downloads, files }: { downloads: DownloadsPart; files: FilesPart },
    caller: AccountCaller,
  ) {
    const place = parseFolderPlace(call.params.identifier)
    const reader = archiveReader(call)
    const whose = { folder: null, isOwner: true }
    if (place === 'root')
      return sendArchive(call, files.usage, await downloads.archives.everything(reader, caller), whose)
    const folder = await files.folders.get(caller, place)
    const archive = await downloads.archives.folder(
      reader,
      { account: caller.account, grants: new Map() },
      folder.id,
    )
    return sendArchive(call, files.usage, archive, { ...whose, folder: folder.name })
  },
})

export const signArchiveEndpoint = keyedEndpoint({
  summary: 'Get a signed address of a ZIP file',
  description: 'Of up to 200 of your files and folders.',
  tag: 'Files',
  body: filesAndFolders,
  answer: archiveAddressAnswer,
  errors: [400, 404, 413],
  async handle(
    { call, caller, body },
    { downloads, files, sharing }: { downloads: DownloadsPart; files: FilesPart; sharing: SharingPart },
  ) {
    const chosen = { files: new Set<FileId>(), folders: new Set<FolderId>() }
    const places = new Set<FolderId>()
    for (const identifier of body.files ?? []) {
      const file = await files.get(caller, parseFileIdentifier(identifier))
      chosen.files.add(file.id)
      places.add(file.folder_id)
    }
    for (const identifier of body.folders ?? []) {
      const folder = await files.folders.get(caller, parseFolderIdentifier(identifier))
      chosen.folders.add(folder.id)
      places.add(folder.id)
    }
    const selection = { files: [...chosen.files], folders: [...chosen.folders] }
    const rights = await sharing.access.rightsTo(caller.account, places)
    const token = downloads.archiveTokens.issue(caller, rights, selection)
    return {
      success: true,
      data: { url: `${call.site.contentUrl}/z/${token}`, expires_in: ARCHIVE_TOKEN_LIFETIME },
    }
  },
})
