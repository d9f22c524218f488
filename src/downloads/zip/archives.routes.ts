import { z } from '@hono/zod-openapi'
import { archiveAddressAnswer } from '../../contract/files.ts'
import type { AccountCaller } from '../../core/callers.ts'
import { accountAsHolder, holderOf } from '../../core/shares.ts'
import {
  type FileId,
  type FolderId,
  parseFileIdentifier,
  parseFolderIdentifier,
  parseFolderPlace,
} from '../../domain/ids.ts'
import type { FilesModule } from '../../files/files.module.ts'
import type { Usage } from '../../files/use-counters.ts'
import { partToSend } from '../../server/answers/part-to-send.ts'
import type { Call } from '../../server/call.ts'
import { bytesOf, type Documentation, endpoint, keyedEndpoint } from '../../server/endpoint.ts'
import { filesAndFolders, identifierParameter } from '../../server/requests/fields.ts'
import type { ByteSlots } from '../../sharing/links/link-slots.ts'
import type { SharingModule } from '../../sharing/sharing.module.ts'
import type { DownloadsModule } from '../downloads.module.ts'
import { beginSending, contentDisposition, isProbe } from '../send.ts'
import type { ArchiveReader } from './archive-slots.ts'
import { ARCHIVE_TOKEN_LIFETIME } from './archive-tokens.ts'
import type { Archive } from './archives.ts'

export const archiveAnswers: Documentation['answers'] = {
  200: bytesOf('application/zip', 'A ZIP file'),
  206: bytesOf('application/zip', 'The range asked for'),
  304: { description: 'Not changed' },
}

export function archiveReader(call: Call): ArchiveReader {
  return { holder: holderOf(call), gone: call.request.signal }
}

const FILES = 'files'

export function archiveName(folder: string | null): string {
  return `${folder ?? FILES}.zip`
}

/** `folder`: name of the archived folder. */
export async function sendArchive(
  call: Call,
  usage: Pick<Usage, 'archiveUsed'>,
  archive: Archive,
  whose: {
    readonly folder: string | null
    readonly isOwner: boolean
    readonly claims?: ByteSlots | null
  },
): Promise<Response> {
  const { site } = call
  // No date changes whenever the archive does.
  const validators = { etag: archive.etag, lastModified: null }
  const headers = archiveHeaders(archive.etag, archiveName(whose.folder))
  try {
    const part = partToSend(call, archive.size, validators, headers)
    if (part instanceof Response) {
      archive.close()
      return part
    }
    const { status, start, end } = part
    const body = archive.read(start, end, {
      began: isProbe({ end, whole: archive.size })
        ? () => {}
        : usage.archiveUsed(whose.isOwner ? null : 'download'),
      failed: (error) => site.report(error, call.id),
      sent: await beginSending(whose.claims ?? null, { start, end, whole: archive.size }),
    })
    return new Response(body, { status, headers })
  } catch (error) {
    archive.close()
    throw error
  }
}

function archiveHeaders(etag: string, name: string): Headers {
  return new Headers({
    'Content-Type': 'application/zip',
    'Content-Disposition': contentDisposition('attachment', name),
    'Accept-Ranges': 'bytes',
    ETag: etag,
    'Cache-Control': 'private, max-age=0, must-revalidate',
    'Content-Security-Policy': "sandbox; default-src 'none'",
    'Cross-Origin-Resource-Policy': 'cross-origin',
  })
}

export const getArchiveEndpoint = endpoint({
  documentation: {
    summary: 'Download a ZIP file',
    description: 'At its signed address.',
    tag: 'Public',
    params: z.object({ token: z.string() }),
    answers: archiveAnswers,
    errors: [403, 404, 412, 416],
  },
  streams: 'out',
  async handle(
    call,
    { downloads, files, sharing }: { downloads: DownloadsModule; files: FilesModule; sharing: SharingModule },
  ) {
    const { requester, selection } = downloads.archiveTokens.read(call.params.token ?? '')
    const account = (requester.reach ?? requester.signed)?.account
    const archive = await downloads.archives.selection(
      { ...archiveReader(call), ...(account === undefined ? {} : { holder: accountAsHolder(account) }) },
      await sharing.access.signed(requester, null),
      selection,
    )
    // Such addresses are issued to owners only, and act for them.
    return sendArchive(call, files.usage, archive, { folder: null, isOwner: true })
  },
})

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
    { downloads, files }: { downloads: DownloadsModule; files: FilesModule },
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
    { downloads, files, sharing }: { downloads: DownloadsModule; files: FilesModule; sharing: SharingModule },
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
