import { z } from '@hono/zod-openapi'
import * as mini from 'zod/mini'
import type { Authentication } from '../../accounts/authentication.ts'
import { described } from '../../contract/fields.ts'
import { type Contribution, contributionsAnswer } from '../../contract/links.ts'
import { contributionResult, startedUpload } from '../../contract/uploads.ts'
import type { ContributorCaller } from '../../core/callers.ts'
import { timestamp } from '../../domain/clock.ts'
import { type Answers, ASKED_FIELDS } from '../../domain/upload-terms.ts'
import { jsonResponse } from '../../server/answers/answers.ts'
import type { Call } from '../../server/call.ts'
import { bodyOfBytes, type Documentation, endpoint, fileField, keyedEndpoint } from '../../server/endpoint.ts'
import { MAX_PAGE, paginationOf, queryNumber } from '../../server/requests/fields.ts'
import type { ListedContribution } from '../../uploads/contributions.rows.ts'
import { formUpload } from '../../uploads/form-upload.ts'
import { drainUnread, rawUpload, receiveFile } from '../../uploads/receive.ts'
import { createUpload, startUpload } from '../../uploads/resumable/tus.routes.ts'
import { asksForJson, textResponse } from '../../uploads/upload.routes.ts'
import { toContributionResult } from '../../uploads/upload-answers.ts'
import type { UploadsModule } from '../../uploads/uploads.module.ts'
import type { SharingModule } from '../sharing.module.ts'
import { linkVisit } from './link-access.ts'

/** Uploads by links. The link alone authorizes: keys and sessions are ignored. */

interface Needs {
  readonly authentication: Pick<Authentication, 'assertGoodKey'>
  readonly sharing: Pick<SharingModule, 'linkContributors'>
  readonly uploads: UploadsModule
}

const errors = [400, 401, 403, 404, 413, 415, 429]
const answerHeaders = z.object({
  'Holdfast-Receipt': z
    .string()
    .optional()
    .openapi({ description: 'Shows and withdraws the file; /r/{receipt} is a page for it' }),
})
const asked = z.object({
  sender: z.string().optional().openapi({ example: 'Ann Lee' }),
  address: z.string().optional().openapi({ example: 'ann@example.org' }),
  reference: z.string().optional().openapi({ example: '42' }),
})
const link = z.string().openapi({ description: 'The slug of the link' })

async function contributor(
  call: Call,
  { authentication, sharing }: Pick<Needs, 'authentication' | 'sharing'>,
): Promise<ContributorCaller> {
  await authentication.assertGoodKey(call)
  return sharing.linkContributors.contributor(linkVisit(call), call.bucket, basicPassword(call.request))
}

/** Sent by `curl -u :password`; the user name is ignored. */
function basicPassword(request: Request): string | null {
  const [, base64 = ''] =
    /^Basic +([A-Za-z0-9+/]+={0,2}) *$/i.exec(request.headers.get('authorization') ?? '') ?? []
  const [, password] = /^[^:]*:(.+)$/s.exec(Buffer.from(base64, 'base64').toString('utf8')) ?? []
  return password ?? null
}

function asksForPage(request: Request): boolean {
  return (request.headers.get('accept') ?? '').includes('text/html')
}

function seeOther(path: string): Response {
  return new Response(null, { status: 303, headers: { Location: path } })
}

const pick = (get: (field: string) => string | undefined): Answers =>
  Object.fromEntries(ASKED_FIELDS.map((field) => [field, get(field)]))

const UNNAMED =
  'The address had no name for the file, so it got one by its kind. With "/" at the end of the address curl adds the name.\n'

function putEndpoint(documentation: Pick<Documentation, 'summary' | 'description' | 'params'>) {
  return endpoint({
    documentation: {
      ...documentation,
      tag: 'Links',
      query: asked,
      body: bodyOfBytes('application/octet-stream'),
      answers: {
        200: {
          description:
            'Stored, safe from a power cut: its receipt and how to withdraw it, or JSON where Accept asks for it',
          headers: answerHeaders,
          schema: contributionResult,
          text: described(mini.string(), {
            example:
              'Receipt: https://files.example.org/r/IkxY…\nTo withdraw it: curl -X DELETE https://files.example.org/api/v1/receipt/IkxY…\n',
          }),
        },
      },
      errors,
    },
    async handle(call, modules: Needs) {
      const caller = await contributor(call, modules)
      const format = rawUpload(call, call.params.target !== undefined, 'link')
      const answers = () => pick((field) => call.url.searchParams.get(field) ?? undefined)
      const file = await receiveFile(call, modules.uploads, caller, { folder: null, format, answers })
      const result = toContributionResult(call, modules.uploads, file)
      if (asksForJson(call.request)) return jsonResponse(result)
      const { publicUrl } = call.site
      const { receipt } = result
      const named = call.params.target === undefined ? UNNAMED : ''
      return textResponse(
        `${named}Receipt: ${publicUrl}/r/${receipt}\nTo withdraw it: curl -X DELETE ${publicUrl}/api/v1/receipt/${receipt}\n`,
      )
    },
    refused: drainUnread,
  })
}

/** `curl -T file https://host/l/<slug>/` */
export const putContribution = putEndpoint({
  summary: 'Upload a file as the request body to an upload link',
  description: 'As "curl -T" does. The password of the link is that of Basic authentication.',
  params: z.object({ link, target: z.string().openapi({ description: 'The name of the file' }) }),
})

/** `curl -T file https://host/l/<slug>`: without the last slash curl adds no name. */
export const putUnnamedContribution = putEndpoint({
  summary: 'Upload a file without a name to an upload link',
  description: 'As "curl -T" does where the address lacks its last slash, under a name that fits what it is.',
  params: z.object({ link }),
})

export const postContribution = endpoint({
  documentation: {
    summary: 'Upload a file to an upload link',
    description: 'By a form. What the link asks for stands in fields in front of the file.',
    tag: 'Links',
    params: z.object({ link }),
    body: {
      type: 'multipart/form-data',
      schema: asked.extend({ file: fileField }),
    },
    answers: {
      200: {
        description: 'Stored, safe from a power cut',
        schema: contributionResult,
        headers: answerHeaders,
      },
    },
    errors,
  },
  async handle(call, modules: Needs) {
    const caller = await contributor(call, modules)
    const fields = new Map<string, string>()
    const format = formUpload(call.request, { wanted: ASKED_FIELDS, values: fields })
    const answers = () => pick((field) => fields.get(field))
    const file = await receiveFile(call, modules.uploads, caller, { folder: null, format, answers })
    const result = toContributionResult(call, modules.uploads, file)
    return asksForPage(call.request)
      ? seeOther(`/r/${encodeURIComponent(result.receipt)}?done=received`)
      : jsonResponse(result)
  },
  refused: drainUnread,
})

export const startContribution = endpoint({
  documentation: {
    summary: 'Create a resumable upload to an upload link',
    description: 'By tus 1.0.0. It continues at the address in Location.',
    tag: 'Links',
    params: z.object({ link }),
    headers: z.object({
      'Tus-Resumable': z.literal('1.0.0'),
      'Upload-Length': z.string(),
      'Upload-Metadata': z.string().optional().openapi({
        description:
          'filename, filetype, relativePath (folders of it are made), lastModified, and what the link asks for: sender, address, reference',
      }),
    }),
    answers: {
      201: {
        description: 'Started',
        headers: z.object({ Location: z.string() }).extend(answerHeaders.shape),
        schema: startedUpload,
      },
    },
    errors: [...errors, 412, 460],
  },
  ...(startUpload.always === undefined ? {} : { always: startUpload.always }),
  handle: async (call, modules: Needs) =>
    createUpload(call, modules.uploads, await contributor(call, modules)),
  refused: drainUnread,
})

export const listContributionsEndpoint = keyedEndpoint({
  summary: 'List the contributions to an upload link',
  description: 'Newest first.',
  tag: 'Links',
  params: z.object({ link }),
  query: z.object({
    page: queryNumber(1, MAX_PAGE).optional(),
    per_page: queryNumber(1, 100).optional(),
  }),
  answer: contributionsAnswer,
  errors: [400, 404],
  async handle({ caller, params, query }, { sharing }: { readonly sharing: Pick<SharingModule, 'links'> }) {
    const [page, perPage] = [query.page ?? 1, query.per_page ?? 20]
    const found = await sharing.links.contributions(caller, params.link ?? '', page, perPage)
    return {
      success: true,
      data: found.contributions.map(toContribution),
      pagination: paginationOf(page, perPage, found.total),
    }
  },
})

function toContribution(row: ListedContribution): Contribution {
  const { name, size, sender, address, reference, created_at, file_id, file_uuid, type } = row
  const { upload_slug: slug, received } = row
  return {
    name: name ?? '',
    size,
    file: file_id === null || type === null ? null : { id: file_id, uuid: file_uuid, type },
    arriving:
      file_id !== null || slug === null || received === null ? null : { uuid: file_uuid, slug, received },
    sender,
    address,
    reference,
    created_at: timestamp(created_at),
  }
}
