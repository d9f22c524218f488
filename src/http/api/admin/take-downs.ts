import { z } from '@hono/zod-openapi'
import { timestamp } from '../../../domain/clock.ts'
import { Refusal } from '../../../domain/errors.ts'
import { isSha256, parseFileIdentifier, type Sha256 } from '../../../domain/ids.ts'
import { adminRoute } from '../../route.ts'
import { done } from '../answers.ts'
import { dataOf, fileIdentifier, timestampField } from '../fields.ts'
import { listOf, pageOf, pageQuery, toList } from './fields.ts'

const hash = z.string().openapi({ description: '64 hexadecimal characters' })

export const takenDown = z
  .object({
    sha256: hash,
    files: z
      .number()
      .int()
      .openapi({ description: 'How many files went, in all accounts and in their bins' }),
  })
  .openapi('TakenDown')

export const takeDown = adminRoute({
  method: 'post',
  path: '/api/v1/admin/take-down',
  summary: 'Take a content down: every file that has it, at once and everywhere, and what comes of it again',
  body: z.object({
    file: fileIdentifier.optional(),
    sha256: hash.optional().openapi({ description: 'In the place of a file, which need not be here' }),
  }),
  answer: dataOf(takenDown),
  errors: [400, 404, 413],
  async handle({ call, caller, body }) {
    const { takeDowns } = call.site.services
    const { file, sha256 } = body
    if (file !== undefined && sha256 === undefined) {
      return { success: true, data: await takeDowns.file(caller, parseFileIdentifier(file)) }
    }
    if (sha256 !== undefined && file === undefined) {
      return { success: true, data: await takeDowns.content(caller, parseSha256(sha256)) }
    }
    throw new Refusal('INVALID_REQUEST', 'Give either "file" or "sha256"')
  },
})

export const listRefused = adminRoute({
  method: 'get',
  path: '/api/v1/admin/refused',
  summary: 'List the contents that were taken down and are refused, the newest first',
  query: z.object(pageQuery),
  answer: listOf(z.object({ sha256: hash, refused_at: timestampField, files: z.number().int() })),
  errors: [400],
  async handle({ call, query }) {
    const page = pageOf(query)
    const { contents, total } = await call.site.services.takeDowns.refused(page.page, page.perPage)
    const data = contents.map(({ sha256, refused_at, files }) => ({
      sha256,
      refused_at: timestamp(refused_at),
      files,
    }))
    return toList(page, data, total)
  },
})

export const allowContent = adminRoute({
  method: 'delete',
  path: '/api/v1/admin/refused/{sha256}',
  summary: 'Let a content be uploaded again; the files that went stay gone',
  params: z.object({ sha256: hash }),
  answer: done,
  errors: [400, 404],
  async handle({ call, caller, params }) {
    await call.site.services.takeDowns.allow(caller, parseSha256(params.sha256 ?? ''))
    return { success: true }
  },
})

function parseSha256(text: string): Sha256 {
  const lower = text.toLowerCase()
  if (isSha256(lower)) return lower
  throw new Refusal('INVALID_REQUEST', '"sha256": must have 64 hexadecimal characters')
}
