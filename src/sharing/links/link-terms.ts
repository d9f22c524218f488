import { hashPassword } from '../../core/password-hash.ts'
import { DAY } from '../../domain/clock.ts'
import { Refusal } from '../../domain/errors.ts'
import { END_SOON_TOLD, END_UNTOLD, type EndTold } from '../../domain/event-kinds.ts'
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
}

const LONGEST_NAME = 100
/** Every new claim counts all claims of its link. */
export const MOST_DOWNLOADS = 10_000
const LONGEST_MESSAGE = 2000

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
    ...(isOtherEnd ? { end_told: endToldOf(endsAt === undefined ? end : endsAt, now) } : {}),
  }
}

/** A link made for less than two days gets no notification of its end. */
const TOO_SHORT = 2 * DAY

function endToldOf(endsAt: number | null, now: number): EndTold {
  return endsAt !== null && endsAt - now < TOO_SHORT ? END_SOON_TOLD : END_UNTOLD
}

/** Control characters and those that change the direction of adjacent text. */
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
