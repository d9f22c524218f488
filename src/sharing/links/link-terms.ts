import { hashPassword } from '../../core/password-hash.ts'
import { DAY } from '../../domain/clock.ts'
import { Refusal } from '../../domain/errors.ts'
import { INVISIBLE_BUT_MARKS } from '../../domain/invisible-characters.ts'
import { END_SOON_TOLD, END_UNTOLD, type EndTold } from '../../domain/link-event.ts'
import { boundedNfc } from '../../domain/measured-text.ts'
import type { UploadTerms } from '../../domain/upload-terms.ts'

/** Terms of a link that its owner may change. Empty texts mean none. */
export interface LinkTerms {
  readonly name?: string | null
  readonly message?: string | null
  readonly password?: string | null
  /** Milliseconds since the epoch; null: no end. */
  readonly endsAt?: number | null
  /** null: any number. */
  readonly maxDownloads?: number | null
  /** Of a link that takes uploads; what is missing stays as it is. */
  readonly uploads?: Partial<UploadTerms>
}

const LONGEST_NAME = 100
/** Claims of a link are counted whenever one is made. */
export const MOST_DOWNLOADS = 10_000
const LONGEST_MESSAGE = 2000

export async function hashOf(password: string | null | undefined): Promise<string | null | undefined> {
  return typeof password === 'string' ? hashPassword(password) : password
}

/** The columns that the terms set, besides the password's. `end`: what it has now. Throws Refusal INVALID_REQUEST. */
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
    ...(isOtherEnd ? { end_told: endToldOf(endsAt === undefined ? end : endsAt, now) } : {}),
  }
}

/** Owners of a link that is made for less than two days are not told that it ends soon. */
const TOO_SHORT = 2 * DAY

/** What of the end needs not be told. */
function endToldOf(endsAt: number | null, now: number): EndTold {
  return endsAt !== null && endsAt - now < TOO_SHORT ? END_SOON_TOLD : END_UNTOLD
}

/** Control characters, and those that turn the direction of what stands beside them. */
const CONTROLS = {
  name: INVISIBLE_BUT_MARKS,
  message: /(?!\n)[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu,
} as const

function textOf(field: 'name' | 'message', text: string | null, most: number): string | null {
  const bounded = boundedNfc((text ?? '').replaceAll('\r\n', '\n').trim(), most)
  if (bounded === null) {
    throw new Refusal('INVALID_REQUEST', `"${field}": may have ${most} characters at most`)
  }
  const clean = bounded.toWellFormed().replace(CONTROLS[field], '')
  return clean === '' ? null : clean
}
