import { wholeNumber } from './whole-number.ts'

/** Identifiers, each branded so that one kind cannot be used in place of another. */

declare const brand: unique symbol
type Branded<T, Name extends string> = T & { readonly [brand]: Name }

export type AccountId = Branded<number, 'AccountId'>
export type KeyId = Branded<number, 'KeyId'>
export type FileId = Branded<number, 'FileId'>
export type BlobId = Branded<number, 'BlobId'>
/** Row id of a folder. Callers only ever see its identifier. */
export type FolderId = Branded<number, 'FolderId'>
/** Row id of a resumable upload. Callers only ever see its address. */
export type UploadId = Branded<number, 'UploadId'>
/** Secret part of a resumable upload's address: 32 lower-case hexadecimal characters, random. */
export type UploadToken = Branded<string, 'UploadToken'>
export type OwnUploadName = Branded<string, 'OwnUploadName'>
/** Secret with which a guest can delete an upload. */
export type Receipt = Branded<string, 'Receipt'>
export type SessionId = Branded<number, 'SessionId'>
export type PasskeyId = Branded<number, 'PasskeyId'>
/** Entry in an account's bin: a file, or a folder with its content. */
export type BinEntryId = Branded<number, 'BinEntryId'>
/** Sequence number of a change; grows within an account. */
export type ChangeId = Branded<number, 'ChangeId'>
export type MailId = Branded<number, 'MailId'>
export type ResetRequestId = Branded<number, 'ResetRequestId'>
/** Copy of a content that was marked as damaged. */
export type DamageId = Branded<number, 'DamageId'>
/** Warning to an account about files that will be deleted. */
export type FileWarningId = Branded<number, 'FileWarningId'>
export type ReportId = Branded<number, 'ReportId'>
export type AuditId = Branded<number, 'AuditId'>
export type Slug = Branded<string, 'Slug'>
/** Row id of a made link. Callers only ever see its slug. */
export type LinkId = Branded<number, 'LinkId'>
export type LinkClaimId = Branded<number, 'LinkClaimId'>
/** Row id of an event of a link. */
export type LinkEventId = Branded<number, 'LinkEventId'>
export type WebhookId = Branded<number, 'WebhookId'>
export type WebhookDeliveryId = Branded<number, 'WebhookDeliveryId'>
export type ContributionId = Branded<number, 'ContributionId'>
/** Tells the visitors of a made link apart: an HMAC, by which nobody is found. */
export type LinkVisitor = Branded<string, 'LinkVisitor'>
/** The same for programs without cookies, of which several may be one visitor's, and one several visitors'. */
export type LinkProgram = Branded<string, 'LinkProgram'>
/** Public name of a made link: a–z, 0–9 and hyphens. */
export type LinkSlug = Branded<string, 'LinkSlug'>
export type Uuid = Branded<string, 'Uuid'>
/** Public identifier of a folder: 16 characters a–z 0–9, the first a letter. */
export type FolderIdentifier = Branded<string, 'FolderIdentifier'>
/** Name of a blob in the store: 32 lower-case hexadecimal characters, random. */
export type BlobKey = Branded<string, 'BlobKey'>
/** State that a store needs to continue a partial blob. Opaque to everything else. */
export type BlobProgress = Branded<string, 'BlobProgress'>
/** One run of the program among those that share a database. */
export type NodeId = Branded<string, 'NodeId'>
/** 64 lower-case hexadecimal characters. */
export type Sha256 = Branded<string, 'Sha256'>

/** The account that owns guest uploads: an ordinary row, so that its storage is counted like the others'. */
export const GUESTS = 0 as AccountId

/** Identifiers of a file, distinguished by their shape. */
export type FileIdentifier =
  | { readonly kind: 'id'; readonly id: FileId }
  | { readonly kind: 'uuid'; readonly uuid: Uuid }
  | { readonly kind: 'slug'; readonly slug: Slug }

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

/** Whether a name in a store is a blob key. Anything else there belongs to others. */
export function isBlobKey(name: string): name is BlobKey {
  return /^[0-9a-f]{32}$/.test(name)
}

/** Whether the text has the form of a SHA-256, in lower case. */
export function isSha256(text: string): text is Sha256 {
  return /^[0-9a-f]{64}$/.test(text)
}

/** Digits only are an id, the form of a UUID is a UUID, everything else is a slug. */
export function parseFileIdentifier(text: string): FileIdentifier {
  const id = wholeNumber(text)
  if (id !== null) return { kind: 'id', id: id as FileId }
  if (UUID.test(text)) return { kind: 'uuid', uuid: text.toLowerCase() as Uuid }
  return { kind: 'slug', slug: parseSlug(text) }
}

/** Stand for texts of another form, some of which PostgreSQL rejects: no file and no folder is found by them. */
const NO_SLUG = '' as Slug
const NO_FOLDER = '-' as FolderIdentifier

export function isSlug(text: string): text is Slug {
  return /^[A-Za-z0-9]{12}$/.test(text)
}

/** A text of another form becomes a slug that no file has. */
export function parseSlug(text = ''): Slug {
  return isSlug(text) ? text : NO_SLUG
}

/** A text of another form becomes an identifier that no folder has. */
export function parseFolderIdentifier(text = ''): FolderIdentifier {
  return /^[a-z][a-z0-9]{15}$/.test(text) ? (text as FolderIdentifier) : NO_FOLDER
}

/** A folder in a caller's tree, as requests name it. */
export type FolderPlace = 'root' | FolderIdentifier

/** `root`, an empty string, null and a missing value mean the top level. */
export function parseFolderPlace(value: string | null | undefined): FolderPlace {
  return value === undefined || value === null || value === '' || value === 'root'
    ? 'root'
    : parseFolderIdentifier(value)
}
