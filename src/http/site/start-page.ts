import { z } from '@hono/zod-openapi'
import { admitGuest } from '../api/guests.ts'
import type { Route } from '../route.ts'
import { leaveBody, receiveFile } from '../uploads/receive.ts'
import { readerOf } from './language.ts'
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
    const { guestUploads, maxFileSize, inactiveDays } = config
    const view = { publicUrl, guestUploads, maxFileSize, inactiveDays }
    return page(call.site, call.site.pages.startPage(view, readerOf(call.request)))
  },
}

export const postStartPage: Route = {
  method: 'post',
  path: '/',
  auth: 'none',
  documentation: {
    summary: 'Upload a file as a guest from a plain form, and on to its page',
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
    const guest = { kind: 'guest', bucket: call.bucket } as const
    call.caller = guest
    try {
      await admitGuest(call, guest.bucket, false)
    } catch (error) {
      await leaveBody(call)
      throw error
    }
    const file = await receiveFile(call, guest, 'root')
    return new Response(null, { status: 303, headers: { Location: `/d/${file.slug}` } })
  },
}
