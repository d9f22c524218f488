/**
 * Identifiers of the things a host keeps. Each is branded, so that one kind cannot stand where another is meant.
 */

declare const brand: unique symbol
type Branded<T, Name extends string> = T & { readonly [brand]: Name }

export type AccountId = Branded<number, 'AccountId'>
export type KeyId = Branded<number, 'KeyId'>
export type FileId = Branded<number, 'FileId'>
export type BlobId = Branded<number, 'BlobId'>
/** The folder's row. Callers outside only ever see its identifier. */
export type FolderId = Branded<number, 'FolderId'>
/** A resumable upload's row. Callers outside only ever see its address. */
export type UploadId = Branded<number, 'UploadId'>
/** The secret part of a resumable upload's address: 32 lower-case hexadecimal characters, random. */
export type UploadToken = Branded<string, 'UploadToken'>
export type OwnUploadName = Branded<string, 'OwnUploadName'>
/** What a guest's upload is deleted by. */
export type Receipt = Branded<string, 'Receipt'>
export type SessionId = Branded<number, 'SessionId'>
export type PasskeyId = Branded<number, 'PasskeyId'>
/** One thing in an account's bin: a file, or a folder with all that was in it. */
export type BinEntryId = Branded<number, 'BinEntryId'>
/** Numbers what changes in accounts; those of one account grow. */
export type ChangeId = Branded<number, 'ChangeId'>
export type MailId = Branded<number, 'MailId'>
export type ResetRequestId = Branded<number, 'ResetRequestId'>
/** What an account was told of files that go. */
export type FileWarningId = Branded<number, 'FileWarningId'>
export type ReportId = Branded<number, 'ReportId'>
export type AuditId = Branded<number, 'AuditId'>
export type Slug = Branded<string, 'Slug'>
export type Uuid = Branded<string, 'Uuid'>
/** What the world knows a folder by: 16 characters a–z 0–9, the first a letter. */
export type FolderIdentifier = Branded<string, 'FolderIdentifier'>
/** The blob's name in the store: 32 lower-case hexadecimal characters, random. */
export type BlobKey = Branded<string, 'BlobKey'>
/** What a store wants to be told when it goes on with a blob that is half there. Only the store reads it. */
export type BlobProgress = Branded<string, 'BlobProgress'>
/** One run of the program, among those that share a database. */
export type NodeId = Branded<string, 'NodeId'>
/** 64 lower-case hexadecimal characters. */
export type Sha256 = Branded<string, 'Sha256'>

/** The account that owns what guests upload: one row among the others, so that its room is counted like theirs. */
export const GUESTS = 0 as AccountId

/** What a file may be called by; told apart by shape. */
export type FileIdentifier =
  | { readonly kind: 'id'; readonly id: FileId }
  | { readonly kind: 'uuid'; readonly uuid: Uuid }
  | { readonly kind: 'slug'; readonly slug: Slug }

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

/** Whether the text can be the SHA-256 of a content, in lower case. */
export function isSha256(text: string): text is Sha256 {
  return /^[0-9a-f]{64}$/.test(text)
}

/** Digits only is an id, UUID shape is a UUID, the rest is a slug. */
export function parseFileIdentifier(text: string): FileIdentifier {
  // A number beyond what a database can count is nobody's, like a slug that was never drawn.
  if (/^\d+$/.test(text) && Number.isSafeInteger(Number(text)))
    return { kind: 'id', id: Number(text) as FileId }
  if (UUID.test(text)) return { kind: 'uuid', uuid: text.toLowerCase() as Uuid }
  return { kind: 'slug', slug: text as Slug }
}

/** What stands in an upload's address: the secret that it began with, or what its owner finds in the list. */
export type UploadName = UploadToken | OwnUploadName

/** Whether the text can be a slug at all. PostgreSQL must not be asked for just any text. */
export function isSlug(text: string): text is Slug {
  return /^[A-Za-z0-9]{12}$/.test(text)
}

/** A place in a caller's tree, as requests name it. */
export type FolderPlace = 'root' | FolderIdentifier

/** `root`, an empty string, null and a missing value mean the top level. */
export function parseFolderPlace(value: string | null | undefined): FolderPlace {
  return value === undefined || value === null || value === '' || value === 'root'
    ? 'root'
    : (value as FolderIdentifier)
}
