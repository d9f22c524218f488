import { z } from '@hono/zod-openapi'
import { refusedContentsAnswer, takenDownAnswer } from '../contract/administration.ts'
import { done } from '../contract/fields.ts'
import { timestamp } from '../domain/clock.ts'
import { Refusal } from '../domain/errors.ts'
import { isSha256, parseFileIdentifier, type Sha256 } from '../domain/ids.ts'
import { adminEndpoint } from '../server/endpoint.ts'
import { fileIdentifier } from '../server/requests/fields.ts'
import { pageFields, pageQuery, toList } from '../server/requests/list-pages.ts'
import type { SharingPart } from './sharing.part.ts'

const hash = z.string().openapi({ description: '64 hexadecimal characters' })

export const takeDownEndpoint = adminEndpoint({
  summary: 'Take down a content',
  description: 'Every file that has it, at once and everywhere, and what comes of it again.',
  body: z
    .object({
      file: fileIdentifier.optional(),
      sha256: hash.optional().openapi({ description: 'In the place of a file, which need not be here' }),
    })
    .openapi({ example: { file: 'Kx3RmP7vTq2a' } }),
  answer: takenDownAnswer,
  errors: [400, 404, 413],
  async handle({ caller, body }, { sharing }: { sharing: SharingPart }) {
    const { file, sha256 } = body
    if (file !== undefined && sha256 === undefined) {
      return { success: true, data: await sharing.takeDowns.file(caller, parseFileIdentifier(file)) }
    }
    if (sha256 !== undefined && file === undefined) {
      return { success: true, data: await sharing.takeDowns.content(caller, parseSha256(sha256)) }
    }
    throw new Refusal('INVALID_REQUEST', 'Give either "file" or "sha256"')
  },
})

export const listRefusedEndpoint = adminEndpoint({
  summary: 'List refused contents',
  description: 'Those that were taken down, newest first.',
  query: z.object(pageQuery),
  answer: refusedContentsAnswer,
  errors: [400],
  async handle({ query }, { sharing }: { sharing: SharingPart }) {
    const page = pageFields(query)
    const { contents, total } = await sharing.takeDowns.refused(page.page, page.perPage)
    const data = contents.map(({ sha256, refused_at, files }) => ({
      sha256,
      refused_at: timestamp(refused_at),
      files,
    }))
    return toList(page, data, total)
  },
})

export const allowContentEndpoint = adminEndpoint({
  summary: 'Allow a refused content',
  description: 'It can be uploaded again. Files that were removed are not restored.',
  params: z.object({ sha256: hash }),
  answer: done,
  errors: [400, 404],
  async handle({ caller, params }, { sharing }: { sharing: SharingPart }) {
    await sharing.takeDowns.allow(caller, parseSha256(params.sha256 ?? ''))
    return { success: true }
  },
})

function parseSha256(text: string): Sha256 {
  const lower = text.toLowerCase()
  if (isSha256(lower)) return lower
  throw new Refusal('INVALID_REQUEST', '"sha256": must have 64 hexadecimal characters')
}
