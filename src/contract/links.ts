import * as z from 'zod/mini'
import { END_REASONS, LINK_EVENT_KINDS } from '../domain/event-kinds.ts'
import {
  component,
  dataOf,
  described,
  extended,
  optionalTimestamp,
  pageOf,
  sizeField,
  timestampField,
  uuidField,
} from './fields.ts'

const linkState = described(z.enum(['live', 'ended', 'used_up', 'revoked', 'empty']), {
  description:
    '"live" until its end, its last download or upload, or until it is revoked; "empty" while nothing is left of what it was made for',
})
export type LinkState = z.infer<typeof linkState>

const askedField = z.optional(z.enum(['optional', 'required']))

const linkUploads = component(
  'LinkUploads',
  z.object({
    max_files: described(z.nullable(z.int()), { description: 'null: up to 10,000', example: 500 }),
    max_size: described(z.nullable(z.int()), {
      description: 'Bytes of all files together',
      example: 1_000_000_000,
    }),
    max_file_size: described(z.nullable(z.int()), { description: 'Bytes of each file', example: 20_000_000 }),
    types: described(z.nullable(z.array(described(z.string(), { example: '.pdf' }))), {
      description: 'Extensions and media types that it takes; null: any',
      example: ['.pdf', 'image/*'],
    }),
    fields: described(z.object({ sender: askedField, address: askedField, reference: askedField }), {
      description:
        'What contributors are asked for: their name, mail address, and a word or number that you know',
    }),
    received_files: described(z.int(), { description: 'Files that are there, or on their way', example: 12 }),
    received_size: described(z.int(), { description: 'Bytes of these', example: 48_000_000 }),
  }),
)

const transferField = component(
  'LinkTransfer',
  z.object({
    folder: described(z.string(), { description: 'Identifier of its folder' }),
    sender: described(z.nullable(z.string()), {
      description: 'What its sender calls themselves',
      example: 'Ann Lee',
    }),
    files: described(z.nullable(z.int()), { description: 'Announced; null where nothing was', example: 12 }),
    bytes: described(z.nullable(z.int()), { description: 'Announced', example: 48_000_000 }),
    arrived_files: described(z.int(), {
      description: 'That came, also those that were deleted since',
      example: 9,
    }),
    arrived_bytes: described(z.int(), { description: 'Bytes of these', example: 36_000_000 }),
    is_whole: described(z.boolean(), {
      description:
        'Whether it was closed or all announced files are safe, and no upload to it is under way. With a number of downloads it gives bytes only then',
    }),
  }),
)

export const link = component(
  'Link',
  z.object({
    slug: z.string(),
    url: z.string(),
    title: described(z.string(), {
      description: 'Its name, or else that of the first file or folder that it opens; may be empty',
    }),
    name: z.nullable(z.string()),
    message: z.nullable(z.string()),
    has_password: z.boolean(),
    ends_at: optionalTimestamp,
    max_downloads: described(z.nullable(z.int()), { description: 'null: any number', example: 3 }),
    downloads: described(z.int(), {
      description:
        'Visitors who downloaded it, or are doing so. Of one visitor all within a day is one download; one of which less than half was sent, previews of chat programs and those of its owner do not count',
    }),
    state: linkState,
    files: described(z.int(), {
      description:
        'How many files were chosen, of which some may be gone; of a transfer the number that was announced, or 0',
    }),
    folders: described(z.int(), { description: 'How many folders were chosen, of which some may be gone' }),
    uploads: described(z.nullable(linkUploads), {
      description: 'What it takes into its one folder, of which it shows nothing; null: it opens something',
    }),
    transfer: described(z.nullable(transferField), {
      description:
        'Of a folder that was made with this link for files to be put into; null: of anything else',
    }),
    created_at: timestampField,
    revoked_at: optionalTimestamp,
  }),
)
export type Link = z.infer<typeof link>

export const linkDetail = component(
  'LinkDetail',
  extended(link, {
    targets: z.object({
      folders: z.array(z.object({ id: z.string(), name: z.string() })),
      files: z.array(
        z.object({ id: z.int(), uuid: uuidField, name: z.string(), size: sizeField, type: z.string() }),
      ),
    }),
  }),
)
export type LinkDetail = z.infer<typeof linkDetail>

export const contribution = component(
  'Contribution',
  z.object({
    name: z.string(),
    size: sizeField,
    file: described(z.nullable(z.object({ id: z.int(), uuid: uuidField, type: z.string() })), {
      description: 'null while it is on its way',
    }),
    arriving: described(z.nullable(z.object({ uuid: uuidField, slug: z.string(), received: sizeField })), {
      description:
        'Of a resumable upload that is on its way, with the UUID that its file will have: /d/{slug}?download=1&wait=1 has what has come; null for anything else',
    }),
    sender: described(z.nullable(z.string()), { example: 'Ann Lee' }),
    address: described(z.nullable(z.string()), { example: 'ann@example.org' }),
    reference: described(z.nullable(z.string()), { example: '42' }),
    created_at: timestampField,
  }),
)
export type Contribution = z.infer<typeof contribution>

export const linkEvent = component(
  'LinkEvent',
  z.object({
    kind: described(z.enum(LINK_EVENT_KINDS), {
      description:
        'Beside what came and what was downloaded, of which the first is told apart: that it ends within a day, and that it has ended',
    }),
    at: timestampField,
    file: described(z.nullable(z.object({ id: z.nullable(z.int()), name: z.string() })), {
      description:
        'What came or was downloaded, by the name that it had; "id" is null for a ZIP file. null where nothing was, and for several at once',
    }),
    bytes: described(z.nullable(sizeField), { description: 'How many came or were sent' }),
    times: described(z.int(), {
      description: 'Downloads that it stands for: when there are many, several are one event',
      example: 1,
    }),
    reason: described(z.nullable(z.enum(END_REASONS)), {
      description: 'Why it has ended. "full": it asked for files, and all that it takes have come',
    }),
    address: described(z.nullable(z.string()), {
      description: 'From where; null unless this server keeps addresses',
      example: '192.0.2.7',
    }),
  }),
)
export type LinkEvent = z.infer<typeof linkEvent>

export const linkLogAnswer = pageOf(linkEvent)
export const contributionsAnswer = pageOf(contribution)
export const linksAnswer = pageOf(link)
export const linkAnswer = dataOf(linkDetail)
export const linkMadeAnswer = z.object({ success: z.literal(true), message: z.string(), data: linkDetail })
export const guestLinkAnswer = extended(linkMadeAnswer, {
  receipt: described(z.string(), {
    description:
      '/api/v1/receipt/{receipt} shows, changes and revokes the link, /r/{receipt} is a page for it',
  }),
})

export const transferMade = z.object({
  success: z.literal(true),
  message: z.string(),
  data: component(
    'Transfer',
    z.object({
      url: z.string(),
      slug: z.string(),
      folder: described(z.string(), { description: 'Identifier of its folder, for X-Folder-ID with a key' }),
    }),
  ),
  receipt: described(z.optional(z.string()), {
    description:
      'Of a guest: in the header Holdfast-Transfer it lets uploads in; /api/v1/receipt/{receipt} shows, changes, deletes and claims it',
  }),
})
