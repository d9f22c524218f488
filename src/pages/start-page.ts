import { z } from '@hono/zod-openapi'
import type { Authentication } from '../accounts/authentication.ts'
import type { Caller } from '../core/callers.ts'
import { GUESTS } from '../domain/ids.ts'
import type { FilesModule } from '../files/files.module.ts'
import { endpoint, fileField } from '../server/endpoint.ts'
import type { SharingModule } from '../sharing/sharing.module.ts'
import { formUpload } from '../uploads/form-upload.ts'
import { drainUnread, receiveFiles } from '../uploads/receive.ts'
import { setReceiptHeader } from '../uploads/upload-answers.ts'
import type { UploadsModule } from '../uploads/uploads.module.ts'
import type { PagesModule } from './pages.module.ts'
import { page } from './pages.routes.ts'

export const getStartPage = endpoint({
  documentation: {
    summary: 'The start page',
    tag: 'Site',
    answers: { 200: { description: 'A page' } },
    errors: [],
  },
  async handle(
    call,
    {
      authentication,
      files,
      pages,
    }: { authentication: Authentication; files: Pick<FilesModule, 'lifetimeOf'>; pages: PagesModule },
  ) {
    const { config, publicUrl } = call.site
    const session = await authentication.pageSession(call)
    const isSignedIn = session !== null
    const { maxFileSize } = config
    const inactiveDays = (await files.lifetimeOf(session?.account ?? GUESTS))?.days ?? null
    const guestUploads = config.guestUploads || isSignedIn
    const view = { publicUrl, guestUploads, isSignedIn, maxFileSize, inactiveDays }
    return page(call.site, pages.render.startPage(view, await pages.reader(call)))
  },
})

export const postStartPage = endpoint({
  documentation: {
    summary: 'Upload a file from a plain form',
    description: 'Or several, as a guest or signed in. They become a transfer, to whose page it leads on.',
    tag: 'Site',
    body: {
      type: 'multipart/form-data',
      schema: z.object({ file: fileField }),
    },
    answers: { 303: { description: 'Stored; on to the page of the transfer' } },
    errors: [400, 403, 413, 429],
  },
  async handle(
    call,
    { sharing, uploads }: { sharing: Pick<SharingModule, 'transfers'>; uploads: UploadsModule },
    caller: Caller,
  ) {
    const format = formUpload(call.request, undefined, 'several')
    const transfer = await sharing.transfers.make(caller, {}, null)
    const sender = caller.kind === 'guest' ? { ...caller, within: transfer.folder } : caller
    try {
      await receiveFiles(call, uploads, sender, { place: transfer.folder, format })
    } catch (error) {
      // Its link would be unknown to whoever sees the error.
      await sharing.transfers.discard(transfer.id)
      throw error
    }
    await sharing.transfers.close(transfer.id)
    if (caller.kind === 'guest') setReceiptHeader(call, uploads.receipts.ofTransfer(transfer.id))
    return new Response(null, { status: 303, headers: { Location: `/l/${transfer.slug}` } })
  },
  refused: drainUnread,
})
