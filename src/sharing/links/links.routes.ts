import { z } from '@hono/zod-openapi'
import { changedAnswer, doneWithMessage } from '../../contract/fields.ts'
import {
  guestLinkAnswer,
  type Link,
  type LinkDetail,
  type LinkEvent,
  type LinkState,
  linkAnswer,
  linkDetail,
  linkLogAnswer,
  linkMadeAnswer,
  linksAnswer,
} from '../../contract/links.ts'
import { mayRead } from '../../core/callers.ts'
import { eventFields, type LinkEventRow } from '../../core/link-events.rows.ts'
import { optionalTime, timestamp } from '../../domain/clock.ts'
import { type LinkSlug, parseFileIdentifier, parseFolderIdentifier } from '../../domain/ids.ts'
import {
  ASKED_FIELDS,
  isFull,
  MOST_FILES,
  MOST_TYPES,
  parseAcceptedType,
  type UploadTerms,
} from '../../domain/upload-terms.ts'
import type { Site } from '../../server/call.ts'
import { keyedEndpoint, openEndpoint } from '../../server/endpoint.ts'
import {
  assertChange,
  assertKnownFields,
  batch,
  bodyTime,
  filesAndFolders,
  MAX_PAGE,
  neededPassword,
  paginationOf,
  queryNumber,
  READ_ONLY_ALLOWED,
} from '../../server/requests/fields.ts'
import type { UploadsModule } from '../../uploads/uploads.module.ts'
import type { SharingModule } from '../sharing.module.ts'
import { type LinkTerms, MOST_DOWNLOADS, type TransferChange } from './link-terms.ts'
import type { ListedLink, OwnLink } from './links.ts'

const count = (most: number) => {
  const allowed = `must be a whole number from 1 to ${most}`
  return z.int(allowed).min(1, allowed).max(most, allowed).nullish()
}

const MOST_BYTES = Number.MAX_SAFE_INTEGER

const asked = z.enum(['optional', 'required'], 'must be "optional" or "required"').nullish()

const readOnly = z.int().optional().openapi({ example: 12, description: 'Read-only' })

const uploadsBody = z
  .strictObject({
    max_files: count(MOST_FILES).openapi({
      example: 500,
      description: `How many files it takes; ${MOST_FILES} without it`,
    }),
    max_size: count(MOST_BYTES).openapi({
      example: 1_000_000_000,
      description: 'Bytes of all files together',
    }),
    max_file_size: count(MOST_BYTES).openapi({ example: 20_000_000, description: 'Bytes of each file' }),
    types: z
      .array(
        z.string('must be text').transform((text, context) => {
          const type = parseAcceptedType(text)
          if (type !== null) return type
          context.addIssue({
            code: 'custom',
            message: 'must be an extension such as ".pdf" or a type such as "image/*"',
          })
          return z.NEVER
        }),
        'must be a list',
      )
      .max(MOST_TYPES, `may hold ${MOST_TYPES} types at most`)
      .nullish()
      .openapi({
        type: 'array',
        items: { type: 'string', example: '.pdf' },
        example: ['.pdf', 'image/*'],
        description: 'Extensions and media types that it takes, told by the names of files; empty: any',
      }),
    fields: z.strictObject({ sender: asked, address: asked, reference: asked }).nullish().openapi({
      description:
        'What contributors are asked for: "sender" their name, "address" their mail address, "reference" a word or number that you know; each "optional" or "required"',
    }),
    received_files: readOnly,
    received_size: readOnly,
  })
  .nullish()
  .openapi({
    description:
      'With it the link takes uploads into its one folder, and opens nothing: no list, no content, no previews',
  })

function uploadTermsOf(body: NonNullable<z.output<typeof uploadsBody>>): Partial<UploadTerms> {
  const { max_files, max_size, max_file_size, types, fields } = body
  const wanted = ASKED_FIELDS.flatMap((field) => {
    const how = fields?.[field] ?? null
    return how === null ? [] : [[field, how] as const]
  })
  return {
    ...(max_files === undefined ? {} : { maxFiles: max_files }),
    ...(max_size === undefined ? {} : { maxSize: max_size }),
    ...(max_file_size === undefined ? {} : { maxFileSize: max_file_size }),
    ...(types === undefined ? {} : { types }),
    ...(fields === undefined ? {} : { fields: Object.fromEntries(wanted) }),
  }
}

export function linkUrl(site: Pick<Site, 'publicUrl'>, slug: LinkSlug): string {
  return `${site.publicUrl}/l/${slug}`
}

function stateOf(link: ListedLink, now: number): LinkState {
  const { revoked_at, ends_at, max_downloads, downloads, uploads } = link
  if (revoked_at !== null) return 'revoked'
  if (ends_at !== null && ends_at <= now) return 'ended'
  if ((link.file_name ?? link.folder_name ?? link.uploads_name) === null) return 'empty'
  if (uploads !== null) return isFull(uploads.terms, uploads.taken) ? 'used_up' : 'live'
  return max_downloads !== null && downloads >= max_downloads ? 'used_up' : 'live'
}

function toUploads({ uploads }: ListedLink): Link['uploads'] {
  if (uploads === null) return null
  const { terms, taken } = uploads
  return {
    max_files: terms.maxFiles,
    max_size: terms.maxSize,
    max_file_size: terms.maxFileSize,
    types: terms.types === null ? null : [...terms.types],
    fields: terms.fields,
    received_files: taken.received.files,
    received_size: taken.received.size,
  }
}

function toTransfer({ transferState: state }: ListedLink): Link['transfer'] {
  if (state === null) return null
  return {
    folder: state.folder,
    sender: state.sender,
    files: state.announced_files,
    bytes: state.announced_bytes,
    arrived_files: state.arrived_files,
    arrived_bytes: state.arrived_bytes,
    is_whole: state.isWhole,
  }
}

function toLink(site: Site, row: ListedLink): Link {
  return {
    slug: row.slug,
    url: linkUrl(site, row.slug),
    title: row.name ?? row.folder_name ?? row.uploads_name ?? row.file_name ?? '',
    name: row.name,
    message: row.message,
    has_password: row.password_hash !== null,
    ends_at: optionalTime(row.ends_at),
    max_downloads: row.max_downloads,
    downloads: row.downloads,
    state: stateOf(row, site.clock.now()),
    files: row.transferState === null ? row.files : (row.transferState.announced_files ?? 0),
    folders: row.uploads === null ? row.folders : 1,
    uploads: toUploads(row),
    transfer: toTransfer(row),
    created_at: timestamp(row.created_at),
    revoked_at: optionalTime(row.revoked_at),
  }
}

export function toLinkDetail(site: Site, { link, files, folders }: OwnLink): LinkDetail {
  return {
    ...toLink(site, link),
    targets: {
      folders: folders.map(({ identifier, name }) => ({ id: identifier, name })),
      files: files.map(({ id, uuid, name, size, type }) => ({ id, uuid, name, size, type })),
    },
  }
}

const terms = {
  name: z.string('must be text').nullish().openapi({ description: 'Shown on its page; 100 characters' }),
  message: z.string('must be text').nullish().openapi({ description: 'Shown on its page; 2,000 characters' }),
  password: neededPassword,
  ends_at: bodyTime.nullish().openapi({ description: 'From then on it opens nothing' }),
  max_downloads: z
    .int(`must be a whole number from 1 to ${MOST_DOWNLOADS}`)
    .min(1, `must be a whole number from 1 to ${MOST_DOWNLOADS}`)
    .max(MOST_DOWNLOADS, `must be a whole number from 1 to ${MOST_DOWNLOADS}`)
    .nullish()
    .openapi({
      example: 3,
      description:
        'How many visitors may download it; 1: it is over after the first. All that a visitor reads within a day is one download; one of which less than half was sent, previews of chat programs and your own do not count',
    }),
  uploads: uploadsBody,
}

const announced = (what: string) =>
  z
    .int('must be a whole number from 0')
    .min(0, 'must be a whole number from 0')
    .nullish()
    .openapi({
      description: `Of a transfer: how many ${what} are going to be in it; null or 0 for none announced`,
    })

/** Of transfers. A plain link's own "files" is read-only. */
export const transferTerms = {
  files: announced('files').openapi({ example: 12 }),
  bytes: announced('bytes').openapi({ example: 48_000_000 }),
  complete: z
    .literal(true, 'must be true')
    .optional()
    .openapi({ description: 'Of a transfer: all is there, or on its way' }),
  sender: z.string('must be text').nullish().openapi({
    description: 'Of a transfer: what the sender calls themselves; 64 characters',
    example: 'Ann Lee',
  }),
}

export function transferOfBody({
  files,
  bytes,
  complete,
  sender,
}: z.output<z.ZodObject<typeof transferTerms>>): TransferChange {
  return {
    ...(sender === undefined ? {} : { sender }),
    ...(files === undefined ? {} : { files }),
    ...(bytes === undefined ? {} : { bytes }),
    ...(complete === undefined ? {} : { complete }),
  }
}

/** Of a link that opens targets: "uploads" excludes the others. */
const TERMS_EXAMPLE = {
  name: 'Holiday pictures',
  message: 'The best ones are at the end.',
  password: 'sand and sea',
  ends_at: '2037-01-31T12:00:00Z',
  max_downloads: 3,
}

type TermsBody = z.output<z.ZodObject<typeof terms>>

export function termsOfBody(body: Partial<TermsBody>): LinkTerms {
  const { name, message, password, ends_at, max_downloads, uploads } = body
  return {
    ...(name === undefined ? {} : { name }),
    ...(message === undefined ? {} : { message }),
    ...(password === undefined ? {} : { password }),
    ...(max_downloads === undefined ? {} : { maxDownloads: max_downloads }),
    ...(uploads === undefined || uploads === null ? {} : { uploads: uploadTermsOf(uploads) }),
    ...(ends_at === undefined ? {} : { endsAt: ends_at === null ? null : Date.parse(ends_at) }),
  }
}

const linkParameter = z.object({ link: z.string().openapi({ description: 'The slug of the link' }) })

type Needs = { readonly sharing: Pick<SharingModule, 'links'> }

export const makeLinkEndpoint = keyedEndpoint({
  summary: 'Create a link',
  description:
    'To up to 200 of your files and folders. It opens them, and all that is in the folders, whatever "public" and folder passwords say. With "uploads" it takes files into one folder instead, and shows nothing of it.',
  tag: 'Links',
  body: filesAndFolders
    .safeExtend({
      ...terms,
      slug: z.string('must be text').nullish().openapi({
        description:
          'Its address after /l/: 3 to 64 of a–z, 0–9 and hyphens. Without one it gets one that cannot be guessed',
      }),
    })
    .loose()
    .openapi({
      description:
        'A field that a link does not have is refused: what it opens must not be more than was meant',
      example: {
        files: ['Kx3RmP7vTq2a'],
        folders: ['k7w2m9x4q1z8v3b6'],
        slug: 'holiday-2036',
        ...TERMS_EXAMPLE,
      },
    }),
  status: 201,
  answer: linkMadeAnswer,
  errors: [400, 404, 409, 413],
  async handle({ call, caller, body }, { sharing }: Needs) {
    assertKnownFields(body, ['files', 'folders', 'slug', ...Object.keys(terms)])
    const made = await sharing.links.make(caller, {
      ...termsOfBody(body),
      files: (body.files ?? []).map(parseFileIdentifier),
      folders: (body.folders ?? []).map(parseFolderIdentifier),
      slug: body.slug ?? null,
    })
    const message =
      made.link.uploads === null
        ? 'Link created; it opens its files and folders whatever "public" and folder passwords say'
        : 'Link created; whoever has it can put files into the folder, and sees nothing of it'
    return { success: true, message, data: toLinkDetail(call.site, made) }
  },
})

export const listLinksEndpoint = keyedEndpoint({
  summary: 'List links',
  description: 'Newest first.',
  tag: 'Links',
  query: z.object({
    page: queryNumber(1, MAX_PAGE).optional(),
    per_page: queryNumber(1, 100).optional(),
    file: z.string().optional().openapi({ description: 'Only links made for this file' }),
    folder: z.string().optional().openapi({ description: 'Only links made for this folder' }),
  }),
  answer: linksAnswer,
  errors: [400, 404],
  async handle({ call, caller, query }, { sharing }: Needs) {
    const [page, perPage] = [query.page ?? 1, query.per_page ?? 20]
    const { links, total } = await sharing.links.list(caller, {
      page,
      perPage,
      file: query.file === undefined ? null : parseFileIdentifier(query.file),
      folder: query.folder === undefined ? null : parseFolderIdentifier(query.folder),
    })
    return {
      success: true,
      data: links.map((link) => toLink(call.site, link)),
      pagination: paginationOf(page, perPage, total),
    }
  },
})

export const getLinkEndpoint = keyedEndpoint({
  summary: 'Get a link',
  description: 'With what it opens now.',
  tag: 'Links',
  params: linkParameter,
  answer: linkAnswer,
  errors: [404],
  async handle({ call, caller, params }, { sharing }: Needs) {
    const found = await sharing.links.get(caller, params.link ?? '')
    return { success: true, data: toLinkDetail(call.site, found) }
  },
})

export const changeLinkEndpoint = keyedEndpoint({
  summary: 'Update a link',
  description: 'Its terms change at once.',
  tag: 'Links',
  params: linkParameter,
  body: z
    .looseObject({ ...terms, ...transferTerms })
    .openapi({ description: READ_ONLY_ALLOWED, example: TERMS_EXAMPLE }),
  answer: changedAnswer(linkAnswer),
  errors: [400, 404, 413],
  async handle({ call, caller, params, body }, { sharing }: Needs) {
    assertChange(body, ['password', ...Object.keys(transferTerms), ...Object.keys(linkDetail.shape)])
    const wanted = { ...termsOfBody(body), transfer: transferOfBody(body) }
    const changed = await sharing.links.change(caller, params.link ?? '', wanted)
    if (!mayRead(caller)) return { success: true, message: 'Link changed' }
    return { success: true, data: toLinkDetail(call.site, changed) }
  },
})

export const revokeLinkEndpoint = keyedEndpoint({
  summary: 'Revoke a link',
  description: 'From now on it opens nothing.',
  tag: 'Links',
  params: linkParameter,
  answer: doneWithMessage,
  errors: [404],
  async handle({ caller, params }, { sharing }: Needs) {
    await sharing.links.revoke(caller, params.link ?? '')
    return { success: true, message: 'Link revoked' }
  },
})

export const { uploads: _, ...guestTerms } = terms

/** The receipts alone authorize. */
export const makeGuestLinkEndpoint = openEndpoint({
  summary: 'Create a link as a guest',
  description:
    'To up to 200 files that were uploaded as a guest, by their receipts. The link has a receipt of its own, which shows, changes and revokes it.',
  tag: 'Links',
  body: z
    .object({
      receipts: batch(z.string('must be a receipt').openapi({ example: 'IjUwYzgi.b1h8' }), 'receipt'),
      ...guestTerms,
    })
    .loose()
    .openapi({ description: 'A field that such a link does not have is refused' }),
  status: 201,
  answer: guestLinkAnswer,
  errors: [400, 404, 413, 429],
  async handle(
    { call, body },
    {
      sharing,
      uploads,
    }: {
      readonly sharing: Pick<SharingModule, 'links'>
      readonly uploads: Pick<UploadsModule, 'receipts'>
    },
  ) {
    assertKnownFields(body, ['receipts', ...Object.keys(guestTerms)])
    const { bucket } = call
    const made = await sharing.links.makeForGuest(bucket, termsOfBody(body), () =>
      uploads.receipts.files(body.receipts.map((text) => ({ text, bucket }))),
    )
    return {
      success: true,
      message: 'Link created; its receipt changes and revokes it',
      data: toLinkDetail(call.site, made),
      receipt: uploads.receipts.ofLink(made.link.id),
    }
  },
})

export function toLinkEvent(row: LinkEventRow): LinkEvent {
  return { kind: row.kind, at: timestamp(row.at), ...eventFields(row) }
}

export const linkLogEndpoint = keyedEndpoint({
  summary: 'List the events of a link',
  description: 'Those of the last 90 days, newest first: up to 2,000.',
  tag: 'Links',
  params: z.object({ link: z.string().openapi({ description: 'The slug of the link' }) }),
  query: z.object({
    page: queryNumber(1, MAX_PAGE).optional(),
    per_page: queryNumber(1, 100).optional(),
  }),
  answer: linkLogAnswer,
  errors: [400, 404],
  async handle({ caller, params, query }, { sharing }: { readonly sharing: Pick<SharingModule, 'links'> }) {
    const [page, perPage] = [query.page ?? 1, query.per_page ?? 20]
    const { events, total } = await sharing.links.log(caller, params.link ?? '', page, perPage)
    return { success: true, data: events.map(toLinkEvent), pagination: paginationOf(page, perPage, total) }
  },
})
