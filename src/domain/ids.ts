declare const brand: unique symbol
type Branded<T, Name extends string> = T & { readonly [brand]: Name }

export type AccountId = Branded<number, 'AccountId'>
export type KeyId = Branded<number, 'KeyId'>
export type FileId = Branded<number, 'FileId'>
export type BlobId = Branded<number, 'BlobId'>
/** Internal, like the other numbers; callers see the identifier. */
export type FolderId = Branded<number, 'FolderId'>
export type UploadId = Branded<number, 'UploadId'>
/** Secret part of the address: 32 random lower-case hexadecimal characters. */
export type UploadToken = Branded<string, 'UploadToken'>
export type OwnUploadName = Branded<string, 'OwnUploadName'>
export type Receipt = Branded<string, 'Receipt'>
export type SessionId = Branded<number, 'SessionId'>
export type PasskeyId = Branded<number, 'PasskeyId'>
export type BinEntryId = Branded<number, 'BinEntryId'>
/** Grows within an account. */
export type ChangeId = Branded<number, 'ChangeId'>
export type MailId = Branded<number, 'MailId'>
export type ResetRequestId = Branded<number, 'ResetRequestId'>
export type DamageId = Branded<number, 'DamageId'>
export type FileWarningId = Branded<number, 'FileWarningId'>
export type ReportId = Branded<number, 'ReportId'>
export type AuditId = Branded<number, 'AuditId'>
export type Slug = Branded<string, 'Slug'>
export type LinkId = Branded<number, 'LinkId'>
export type LinkSlotId = Branded<number, 'LinkSlotId'>
export type LinkEventId = Branded<number, 'LinkEventId'>
export type WebhookId = Branded<number, 'WebhookId'>
export type WebhookDeliveryId = Branded<number, 'WebhookDeliveryId'>
export type ContributionId = Branded<number, 'ContributionId'>
/** HMAC that distinguishes a link's visitors without identifying them. */
export type LinkVisitor = Branded<string, 'LinkVisitor'>
/** HMAC for programs without cookies; not one to one with visitors. */
export type LinkProgram = Branded<string, 'LinkProgram'>
/** a–z, 0–9 and hyphens. */
export type LinkSlug = Branded<string, 'LinkSlug'>
export type Uuid = Branded<string, 'Uuid'>
/** 16 characters a–z 0–9, the first a letter. */
export type FolderIdentifier = Branded<string, 'FolderIdentifier'>
/** 32 random lower-case hexadecimal characters. */
export type BlobKey = Branded<string, 'BlobKey'>
export type BlobProgress = Branded<string, 'BlobProgress'>
/** One run of the program. */
export type NodeId = Branded<string, 'NodeId'>
/** 64 lower-case hexadecimal characters. */
export type Sha256 = Branded<string, 'Sha256'>

/** An id that a row has or might have. */
export type RowId = Branded<number, string>

/** Reads a number as the id that its place is for; whether there is such a row, and whose, the query says. */
export function toRowId<Id extends RowId>(number: number): Id {
  return number as Id
}

/** Owner of guest uploads: an ordinary row, so that storage is counted as usual. */
export const GUESTS = 0 as AccountId

export type FileIdentifier =
  | { readonly kind: 'id'; readonly id: FileId }
  | { readonly kind: 'uuid'; readonly uuid: Uuid }
  | { readonly kind: 'slug'; readonly slug: Slug }

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

/** Other names in a store belong to others. */
export function isBlobKey(name: string): name is BlobKey {
  return /^[0-9a-f]{32}$/.test(name)
}

export function isSha256(text: string): text is Sha256 {
  return /^[0-9a-f]{64}$/.test(text)
}

/** Digits are an id, a UUID's form a UUID, all else a slug. */
export function parseFileIdentifier(text: string): FileIdentifier {
  const id = wholeNumber(text)
  if (id !== null) return { kind: 'id', id: id as FileId }
  if (UUID.test(text)) return { kind: 'uuid', uuid: text.toLowerCase() as Uuid }
  return { kind: 'slug', slug: parseSlug(text) }
}

/** For malformed texts, some of which PostgreSQL rejects: they match nothing. */
const NO_SLUG = '' as Slug
const NO_FOLDER = '-' as FolderIdentifier

export function isSlug(text: string): text is Slug {
  return /^[A-Za-z0-9]{12}$/.test(text)
}

export function parseSlug(text = ''): Slug {
  return isSlug(text) ? text : NO_SLUG
}

export function parseFolderIdentifier(text = ''): FolderIdentifier {
  return /^[a-z][a-z0-9]{15}$/.test(text) ? (text as FolderIdentifier) : NO_FOLDER
}

export type FolderPlace = 'root' | FolderIdentifier

/** Empty, null and missing mean the top level. */
export function parseFolderPlace(value: string | null | undefined): FolderPlace {
  return value === undefined || value === null || value === '' || value === 'root'
    ? 'root'
    : parseFolderIdentifier(value)
}

/**
 * ASCII digits as in headers, queries and fields. Null for all else: nothing, signs, fractions, exponents, hexadecimal,
 * spaces, other scripts' digits, and the list of a repeated header. Saturates at Number.MAX_SAFE_INTEGER.
 */
export function wholeNumber(text: string | null | undefined): number | null {
  if (text === null || text === undefined || !/^[0-9]+$/.test(text)) return null
  return Math.min(Number(text), Number.MAX_SAFE_INTEGER)
}
