import { z } from '@hono/zod-openapi'
import type { Caller } from '../../services/caller.ts'
import { admitGuest } from '../api/guests.ts'
import { giveReceipt } from '../api/upload-answers.ts'
import { uploadCaller } from '../call.ts'
import type { Route } from '../route.ts'
import { pageSession } from '../session.ts'
import { formUpload } from '../uploads/form-upload.ts'
import { leaveBody, receiveFile } from '../uploads/receive.ts'
import { pageReader } from './page-reader.ts'
import { page } from './pages.ts'

export const getStartPage: Route = {
  method: 'get',
  path: '/',
  auth: 'none',
  documentation: {
    summary: 'The start page',
    tag: 'Site',
    answers: { 200: { description: 'A page' } },
    errors: [],
  },
  async handle(call) {
    const { config, publicUrl } = call.site
    const isSignedIn = (await pageSession(call)) !== null
    const { maxFileSize, inactiveDays } = config
    const guestUploads = config.guestUploads || isSignedIn
    const view = { publicUrl, guestUploads, maxFileSize, inactiveDays }
    return page(call.site, call.site.pages.startPage(view, await pageReader(call)))
  },
}

export const postStartPage: Route = {
  method: 'post',
  path: '/',
  auth: 'optional',
  need: 'upload',
  documentation: {
    summary: 'Upload a file from a plain form, as a guest or signed in, and on to its page',
    tag: 'Site',
    body: {
      type: 'multipart/form-data',
      schema: z.object({ file: z.string().openapi({ type: 'string', format: 'binary' }) }),
    },
    answers: { 303: { description: 'Stored; on to the page of the file' } },
    errors: [400, 403, 413, 429],
  },
  streams: 'in',
  async handle(call) {
    let caller: Caller
    try {
      caller = await uploadCaller(call)
      if (caller.kind === 'guest') await admitGuest(call, caller.bucket, false)
    } catch (error) {
      await leaveBody(call)
      throw error
    }
    const file = await receiveFile(call, caller, 'root', formUpload(call.request))
    if (caller.kind === 'guest') giveReceipt(call, file.uuid)
    return new Response(null, { status: 303, headers: { Location: `/d/${file.slug}` } })
  },
}
