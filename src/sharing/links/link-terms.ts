import { hashPassword } from '../../core/password-hash.ts'
import { DAY } from '../../domain/clock.ts'
import { Refusal } from '../../domain/errors.ts'
import { END_PENDING, END_SOON_NOTIFIED, type EndNotified } from '../../domain/event-kinds.ts'
import type { FolderId } from '../../domain/ids.ts'
import { boundedNfc, INVISIBLE_BUT_MARKS } from '../../domain/text.ts'
import type { UploadTerms } from '../../domain/upload-terms.ts'

/** Empty texts mean none. */
export interface LinkTerms {
  readonly name?: string | null
  readonly message?: string | null
  readonly password?: string | null
  /** Milliseconds since the epoch; null for no end. */
  readonly endsAt?: number | null
  readonly maxDownloads?: number | null
  readonly uploads?: Partial<UploadTerms>
  readonly transfer?: TransferChange
}

/** What its sender says of a transfer. */
export interface TransferChange {
  /** Announced; null or 0 for none. */
  readonly files?: number | null
  readonly bytes?: number | null
  readonly complete?: true
  /** What its sender calls themselves. */
  readonly sender?: string | null
}

const LONGEST_NAME = 100
/** Every new claim counts all claims of its link. */
export const MOST_DOWNLOADS = 10_000
const LONGEST_MESSAGE = 2000
export const LONGEST_SENDER = 64

export async function hashOf(password: string | null | undefined): Promise<string | null | undefined> {
  return typeof password === 'string' ? hashPassword(password) : password
}

/** Without the password's. `end`: the present end. Throws Refusal INVALID_REQUEST. */
export function columnsOf(
  { name, message, endsAt, maxDownloads, uploads }: LinkTerms,
  now: number,
  end: number | null = null,
) {
  if (typeof endsAt === 'number' && endsAt <= now) {
    throw new Refusal('INVALID_REQUEST', '"ends_at": must be in the future')
  }
  const isOtherEnd = [endsAt, maxDownloads, uploads?.maxFiles, uploads?.maxSize].some(
    (term) => term !== undefined,
  )
  return {
    ...(name === undefined ? {} : { name: textOf('name', name, LONGEST_NAME) }),
    ...(message === undefined ? {} : { message: textOf('message', message, LONGEST_MESSAGE) }),
    ...(maxDownloads === undefined ? {} : { max_downloads: maxDownloads }),
    ...(endsAt === undefined ? {} : { ends_at: endsAt }),
    ...(isOtherEnd ? { end_notified: endNotifiedOf(endsAt === undefined ? end : endsAt, now) } : {}),
  }
}

/** A link made for less than two days gets no notification of its end. */
const TOO_SHORT = 2 * DAY

function endNotifiedOf(endsAt: number | null, now: number): EndNotified {
  return endsAt !== null && endsAt - now < TOO_SHORT ? END_SOON_NOTIFIED : END_PENDING
}

/** Control characters and those that change the direction of adjacent text. */
const CONTROLS = {
  name: INVISIBLE_BUT_MARKS,
  sender: INVISIBLE_BUT_MARKS,
  message: /(?!\n)[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu,
} as const

export function textOf(field: keyof typeof CONTROLS, text: string | null, most: number): string | null {
  const bounded = boundedNfc((text ?? '').replaceAll('\r\n', '\n').trim(), most)
  if (bounded === null) {
    throw new Refusal('INVALID_REQUEST', `"${field}": may have ${most} characters at most`)
  }
  const clean = bounded.toWellFormed().replace(CONTROLS[field], '')
  return clean === '' ? null : clean
}

const NO_LIMITS = { max_files: null, max_size: null, max_file_size: null, types: null, fields: '{}' }

export function uploadColumns({ maxFiles, maxSize, maxFileSize, types, fields }: Partial<UploadTerms>) {
  return {
    ...(maxFiles === undefined ? {} : { max_files: maxFiles }),
    ...(maxSize === undefined ? {} : { max_size: maxSize }),
    ...(maxFileSize === undefined ? {} : { max_file_size: maxFileSize }),
    ...(types === undefined ? {} : { types: types === null || types.length === 0 ? null : types.join(',') }),
    ...(fields === undefined ? {} : { fields: JSON.stringify(fields) }),
  }
}

export function newUploads(folder_id: FolderId, terms: Partial<UploadTerms>) {
  return { ...NO_LIMITS, ...uploadColumns(terms), folder_id }
}

/** Throws Refusal INVALID_REQUEST. */
export function transferColumns({ files, bytes, complete, sender }: TransferChange, now: number) {
  return {
    ...(sender === undefined ? {} : { sender: textOf('sender', sender, LONGEST_SENDER) }),
    ...(files === undefined ? {} : { announced_files: files === 0 ? null : files }),
    ...(bytes === undefined ? {} : { announced_bytes: bytes === 0 ? null : bytes }),
    ...(complete === true ? { closed_at: now } : {}),
  }
}

/** Throws Refusal INVALID_REQUEST for terms of another kind of link. */
export function assertTermsFit(
  { uploads, maxDownloads = null, transfer = {} }: Pick<LinkTerms, 'uploads' | 'maxDownloads' | 'transfer'>,
  { takesUploads, isTransfer }: { readonly takesUploads: boolean; readonly isTransfer: boolean },
): void {
  const ofTransfer = ['bytes', 'complete', 'sender'] as const
  const other = isTransfer ? undefined : ofTransfer.find((field) => transfer[field] !== undefined)
  if (other !== undefined) throw new Refusal('INVALID_REQUEST', `"${other}": this link is not of a transfer`)
  if (uploads !== undefined && !takesUploads) {
    throw new Refusal('INVALID_REQUEST', '"uploads": this link opens something; make another one for uploads')
  }
  if (maxDownloads !== null && takesUploads) {
    throw new Refusal(
      'INVALID_REQUEST',
      '"max_downloads": nothing is downloaded by a link that takes uploads',
    )
  }
}
