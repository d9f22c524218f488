import { z } from '@hono/zod-openapi'
import { brandingAnswer } from '../contract/branding.ts'
import { accentOrNull, accentStyle } from '../domain/accent.ts'
import type { Administrator } from '../domain/audit.ts'
import { MAX_LEGAL_TEXT, MAX_SITE_NAME, MAX_START_TEXT } from '../domain/branding.ts'
import { Refusal } from '../domain/errors.ts'
import { formatSize } from '../domain/sizes.ts'
import { JsonAnswer } from '../server/answers/answers.ts'
import { adminEndpoint, bytesOf, endpoint, fileField } from '../server/endpoint.ts'
import { readFormData } from '../server/requests/body.ts'
import type { Covers } from '../thumbnails/covers.ts'
import type { OperationsModule } from './operations.module.ts'

interface Needs {
  readonly operations: Pick<OperationsModule, 'branding'>
}

export const getBrandingEndpoint = adminEndpoint({
  summary: 'Get the branding',
  description: "The operator's own name, logo, colour and texts, as they were set here.",
  answer: brandingAnswer,
  async handle(_, { operations }: Needs) {
    return { success: true, data: await operations.branding.get() }
  },
})

const markdown = (most: number) =>
  z.string('must be a text').max(most, `may have ${most} characters at most`).nullish().openapi({
    description: 'Markdown without HTML; null or empty: none',
    maxLength: most,
    example: 'Example Ltd, [contact](mailto:us@example.org)',
  })

export const changeBrandingEndpoint = adminEndpoint({
  summary: 'Change the branding',
  description: 'What is missing stays. Every page shows it within seconds.',
  body: z.object({
    name: z
      .string('must be a text')
      .max(10 * MAX_SITE_NAME, `may have ${MAX_SITE_NAME} characters at most`)
      .nullish()
      .openapi({ description: 'null or empty: that of the setting', maxLength: MAX_SITE_NAME }),
    accent: z.string('must be a colour').max(20, 'must be a colour').nullish().openapi({
      description:
        'A colour that can be read on a light page, such as #1d4ed8; the one for dark pages is made of it',
      example: '#1d4ed8',
    }),
    start_text: markdown(MAX_START_TEXT),
    legal: z
      .strictObject({
        imprint: markdown(MAX_LEGAL_TEXT),
        privacy: markdown(MAX_LEGAL_TEXT),
        terms: markdown(MAX_LEGAL_TEXT),
      })
      .optional(),
  }),
  answer: brandingAnswer,
  errors: [400, 413],
  async handle({ caller, body }, { operations }: Needs) {
    const { name, accent, start_text: startText, legal } = body
    await operations.branding.set(caller, { name, accent, startText, legal })
    return { success: true, data: await operations.branding.get() }
  },
})

/** Bytes; the route's body limit is above it. */
const MOST_SENT = 5 * 1024 * 1024

export const setLogoEndpoint = endpoint({
  documentation: {
    summary: 'Set the logo',
    description: `A picture of at most ${formatSize(MOST_SENT)}, of which a smaller WebP is kept.`,
    tag: 'Administration',
    body: { type: 'multipart/form-data', schema: z.object({ logo: fileField }) },
    answers: { 200: { description: 'Success', schema: brandingAnswer } },
    errors: [400, 413, 503],
  },
  async handle(
    call,
    { operations, thumbnails }: Needs & { thumbnails: { readonly covers: Covers } },
    caller: Administrator,
  ) {
    const logo = (await readFormData(call)).get('logo')
    if (!(logo instanceof Blob)) {
      throw new Refusal('INVALID_REQUEST', '"logo": must be a picture, with a file name')
    }
    if (logo.size > MOST_SENT) {
      throw new Refusal('PAYLOAD_TOO_LARGE', `"logo": may have ${formatSize(MOST_SENT)} at most`)
    }
    const sent = new Uint8Array(await logo.arrayBuffer())
    await operations.branding.setLogo(caller, await thumbnails.covers.makeLogo(sent, call.request.signal))
    return new JsonAnswer({ success: true, data: await operations.branding.get() }, 200)
  },
})

export const removeLogoEndpoint = adminEndpoint({
  summary: 'Delete the logo',
  answer: brandingAnswer,
  async handle({ caller }, { operations }: Needs) {
    await operations.branding.setLogo(caller, null)
    return { success: true, data: await operations.branding.get() }
  },
})

const FOR_EVER = 'public, max-age=31536000, immutable'

/** The colour's stylesheet is made of its address alone, so that every node has it, however new it is. */
export const getBrandingFileEndpoint = endpoint({
  documentation: {
    summary: 'Get a file of the branding',
    description: 'The stylesheet with the colour, or the logo. Pages name them.',
    tag: 'Site',
    params: z.object({ name: z.string() }),
    answers: { 200: bytesOf('image/webp', 'The file') },
    errors: [404],
  },
  async handle(call, { operations }: Needs) {
    const [, kind, value = ''] =
      /^(accent|logo)-([0-9a-f]+)\.(?:css|webp)$/.exec(call.params.name ?? '') ?? []
    if (kind === 'accent') {
      const accent = accentOrNull(`#${value}`)
      if (accent !== null) return answer(accentStyle(accent), 'text/css; charset=utf-8')
    }
    const logo = kind === 'logo' ? await operations.branding.logo(value) : null
    if (logo === null) throw new Refusal('NOT_FOUND', 'There is nothing at this address')
    return answer(logo, 'image/webp')
  },
})

function answer(body: string | Uint8Array<ArrayBuffer>, type: string): Response {
  return new Response(body, {
    headers: {
      'Content-Type': type,
      'Content-Length': String(typeof body === 'string' ? Buffer.byteLength(body) : body.byteLength),
      'Cache-Control': FOR_EVER,
      'Content-Security-Policy': "default-src 'none'",
    },
  })
}
