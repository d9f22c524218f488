import { Refusal } from './errors.ts'
import { parseMailAddress } from './mail-address.ts'
import { boundedNfc, INVISIBLE_BUT_MARKS } from './text.ts'

/** Questions to contributors; `reference`: a number or word known to the owner. */
export const ASKED_FIELDS = ['sender', 'address', 'reference'] as const
export type AskedField = (typeof ASKED_FIELDS)[number]

export type AskedFields = { readonly [Field in AskedField]?: 'optional' | 'required' | undefined }

export type Answers = { readonly [Field in AskedField]?: string | undefined }

/** Terms of an upload link; null: no limit. */
export interface UploadTerms {
  readonly maxFiles: number | null
  /** Bytes, all files together. */
  readonly maxSize: number | null
  /** Bytes a file. */
  readonly maxFileSize: number | null
  /** As in HTML's `accept`: `.pdf`, `image/*`, `image/png`. */
  readonly types: readonly string[] | null
  readonly fields: AskedFields
}

export interface LinkUsage {
  readonly files: number
  readonly size: number
}

export function isFull({ maxFiles, maxSize }: UploadTerms, { files, size }: LinkUsage): boolean {
  return files >= (maxFiles ?? MOST_FILES) || (maxSize !== null && size >= maxSize)
}

const LONGEST_ANSWER = 200
const VISIBLE = /[\p{L}\p{N}\p{P}\p{S}]/u
export const MOST_TYPES = 50
/** Each upload counts all earlier ones of the link, so they must be bounded. */
export const MOST_FILES = 10_000
const TYPE = /^(?:\.[\p{L}\p{M}\p{N}_+~-]{1,30}|[a-z]{1,20}\/(?:\*|[a-z0-9!#$&^_.+-]{1,100}))$/u

export function parseAcceptedType(text: string): string | null {
  const type = text.trim().toLowerCase()
  return TYPE.test(type) ? type : null
}

/** Drops answers that were not asked for. Throws Refusal INVALID_REQUEST for missing, too long or invalid ones. */
export function checkedAnswers(fields: AskedFields, answers: Answers): Answers {
  const kept: Partial<Record<AskedField, string>> = {}
  for (const field of ASKED_FIELDS) {
    const asked = fields[field]
    if (asked === undefined) continue
    const text = boundedNfc((answers[field] ?? '').trim(), LONGEST_ANSWER)
    if (text === null) throw unfit(field, `may have ${LONGEST_ANSWER} characters at most`)
    const clean = text.toWellFormed().replace(INVISIBLE_BUT_MARKS, '').trim()
    if (VISIBLE.test(clean)) kept[field] = field === 'address' ? mailAddress(clean) : clean
    else if (asked === 'required')
      throw unfit(
        field,
        `this link asks for it; send it as a field of the form in front of the file, at the end of the address of a PUT as ?${field}=…, or in Upload-Metadata of tus`,
      )
  }
  return kept
}

function mailAddress(text: string): string {
  const address = parseMailAddress(text)
  if (address === null) throw unfit('address', 'must be a mail address, such as ann@example.org')
  return address
}

function unfit(field: AskedField, why: string): Refusal {
  return new Refusal('INVALID_REQUEST', `"${field}": ${why}`)
}

/** `processing`: complete but not stored yet. */
export const UPLOAD_STATUSES = ['uploading', 'processing', 'completed', 'failed'] as const
export type UploadStatus = (typeof UPLOAD_STATUSES)[number]
