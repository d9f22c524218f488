import * as z from 'zod/mini'
import { ACTS } from '../domain/audit.ts'
import { REPORT_REASONS, REPORT_STATES } from '../domain/report.ts'
import { displayNameField } from './account.ts'
import {
  component,
  dataOf,
  described,
  extended,
  optionalTimestamp,
  pageOf,
  pictureField,
  sizeField,
  timestampField,
  uuidField,
} from './fields.ts'

/** The answers to administrators about accounts, files and reports, and the audit log. */

export const owner = component('Owner', z.object({ id: z.int(), username: z.string() }))
export type Owner = z.infer<typeof owner>

export const adminAccount = component(
  'AdminAccount',
  z.object({
    id: z.int(),
    username: z.string(),
    display_name: displayNameField,
    created_at: timestampField,
    disabled_at: optionalTimestamp,
    is_admin: z.boolean(),
    has_codes: described(z.boolean(), { description: 'Whether signing in takes a code besides' }),
    storage_used: sizeField,
    storage_in_bin: sizeField,
    storage_limit: described(sizeField, {
      description: 'The quota, or without one what the setting says',
    }),
    quota: z.nullable(sizeField),
    inactive_days: described(z.nullable(z.int()), {
      description:
        'Days without use after which its files are deleted, 0 for never; null: as the setting says',
      example: null,
    }),
    expires_after_days: described(z.nullable(z.int()), {
      description: 'Those days, or without them what the setting says; null: never',
      example: 45,
    }),
    files_count: z.int(),
    folders_count: z.int(),
  }),
)
export type AdminAccount = z.infer<typeof adminAccount>

const adminAccountDetail = component(
  'AdminAccountDetail',
  extended(adminAccount, {
    has_password: z.boolean(),
    has_mail: described(z.boolean(), {
      description: 'Whether there is a confirmed mail address, by which a new password can be had',
    }),
    passkeys: z.int(),
    keys: z.int(),
    sessions: z.int(),
    last_seen_at: described(optionalTimestamp, {
      description: 'When a browser was last used, to the hour',
    }),
    api_requests_today: z.int(),
  }),
)
export type AdminAccountDetail = z.infer<typeof adminAccountDetail>

export const adminAccountsAnswer = pageOf(adminAccount)
export const adminAccountAnswer = dataOf(adminAccountDetail)
export const adminAccountChangedAnswer = dataOf(adminAccount)

/** A link that sets a password, or makes an account. */
const oneTimeLink = z.object({ url: z.string(), expires_at: timestampField })
export type OneTimeLink = z.infer<typeof oneTimeLink>

export const oneTimeLinkAnswer = dataOf(oneTimeLink)

export const anyFile = component(
  'AnyFile',
  z.object({
    id: z.int(),
    uuid: uuidField,
    slug: z.string(),
    url: z.string(),
    thumbnail_url: z.string(),
    picture_url: pictureField,
    name: z.string(),
    type: z.string(),
    size: sizeField,
    created_at: timestampField,
    views: z.int(),
    downloads: z.int(),
    sha256: z.string(),
    account: described(z.nullable(owner), { description: 'null: a guest' }),
  }),
)
export type AnyFile = z.infer<typeof anyFile>

export const allFilesAnswer = pageOf(anyFile)

const report = component(
  'Report',
  z.object({
    id: z.int(),
    reason: z.enum(REPORT_REASONS),
    text: z.nullable(z.string()),
    created_at: timestampField,
    state: described(z.enum(REPORT_STATES), { example: 'open' }),
    closed_at: optionalTimestamp,
    file: z.object({
      id: z.int(),
      slug: z.string(),
      url: z.string(),
      name: z.string(),
      sha256: z.string(),
      is_here: described(z.boolean(), { description: 'What follows is null once it is gone' }),
      size: z.nullable(sizeField),
      type: z.nullable(z.string()),
      thumbnail_url: z.nullable(z.string()),
      picture_url: z.nullable(pictureField),
      account: described(z.nullable(owner), { description: 'null also for a guest' }),
    }),
  }),
)
export type Report = z.infer<typeof report>

export const reportsAnswer = pageOf(report)
export const reportAnswer = dataOf(report)

const damagedFile = component(
  'DamagedFile',
  z.object({
    id: z.int(),
    slug: z.string(),
    url: z.string(),
    name: z.string(),
    size: sizeField,
    account: described(z.nullable(owner), { description: 'null: a guest' }),
    key: described(z.string(), {
      example: '41c3723dd76743ed767c9f1a42e94a4a',
      description: 'Of the content in the store',
    }),
    reason: described(z.nullable(z.enum(['missing', 'size', 'hash', 'unreadable'])), {
      description:
        'Gone from the store, of another size than stored, with other bytes, or not to be read by the disk; null once it is repaired',
    }),
    found_at: timestampField,
    repaired_at: optionalTimestamp,
  }),
)
export type DamagedFile = z.infer<typeof damagedFile>

export const damagedFilesAnswer = pageOf(damagedFile)

/** The SHA-256 of a content. */
export const hashField = described(z.string(), { description: '64 hexadecimal characters' })

const takenDown = component(
  'TakenDown',
  z.object({
    sha256: hashField,
    files: described(z.int(), {
      description: 'How many files went, in all accounts and in their bins',
    }),
  }),
)
export type TakenDown = z.infer<typeof takenDown>

export const takenDownAnswer = dataOf(takenDown)

const refusedContent = z.object({ sha256: hashField, refused_at: timestampField, files: z.int() })
export type RefusedContent = z.infer<typeof refusedContent>

export const refusedContentsAnswer = pageOf(refusedContent)

export const auditDetails = z.record(z.string(), z.unknown())

export const auditRecord = component(
  'Deed',
  z.object({
    id: z.int(),
    at: timestampField,
    account: described(z.nullable(owner), {
      description: 'null: somebody at the command line, or with an address a visitor who has not signed in',
    }),
    address: described(z.nullable(z.string()), { example: '203.0.113.7' }),
    act: z.enum(ACTS),
    object: described(z.nullable(z.string()), { example: 'ada' }),
    details: described(auditDetails, {
      example: { quota: 10_737_418_240, before: null },
    }),
  }),
)
export type AuditRecord = z.infer<typeof auditRecord>

export const auditAnswer = pageOf(auditRecord)
