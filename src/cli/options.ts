import { InvalidArgumentError } from 'commander'
import { SCOPES, type Scope } from '../domain/access.ts'
import { DAY, timestamp } from '../domain/clock.ts'
import { wholeNumber } from '../domain/ids.ts'
import { formatSize, parseSize } from '../domain/sizes.ts'

/** Throws InvalidArgumentError. */
export function readParallel(text: string): number {
  const number = wholeNumber(text) ?? 0
  if (number >= 1 && number <= 64) return number
  throw new InvalidArgumentError('Allowed is a whole number from 1 to 64.')
}

/** nginx's default limit for a request body. */
const LEAST_CHUNK = 1024 * 1024

/** Throws InvalidArgumentError. */
export function readChunkSize(text: string): number {
  const size = parseSize(text)
  if (size !== null && size >= LEAST_CHUNK) return size
  throw new InvalidArgumentError(`Allowed is a size from ${formatSize(LEAST_CHUNK)} up, such as 16MB.`)
}

/** An id from a list. Throws InvalidArgumentError. */
export function readNumber(text: string): number {
  const number = wholeNumber(text) ?? 0
  if (number >= 1) return number
  throw new InvalidArgumentError('Allowed is a number, as the list shows it.')
}

/** Throws InvalidArgumentError. */
export function readCount(text: string): number {
  const count = wholeNumber(text) ?? 0
  if (count >= 1) return count
  throw new InvalidArgumentError('Allowed is a whole number from 1 up.')
}

/** Scopes separated by commas. Throws InvalidArgumentError. */
export function readScopes(text: string): readonly Scope[] {
  const words = text.split(',').map((word) => word.trim())
  const scopes = SCOPES.filter((scope) => words.includes(scope))
  if (scopes.length > 0 && words.every((word) => SCOPES.some((scope) => scope === word))) return scopes
  throw new InvalidArgumentError(`Allowed are ${SCOPES.join(', ')}, with commas between them.`)
}

const TIME = /^(\d{4}-\d\d-\d\d)(T\d\d:\d\d(:\d\d(\.\d{1,3})?)?(Z|[+-]\d\d:\d\d))?$/

/**
 * A time, or a day's beginning in UTC, in milliseconds since the epoch. Null for anything else, also for 30 February,
 * which `Date` takes for a day of March.
 */
export function timeOf(text: string): number | null {
  const [, day = ''] = TIME.exec(text) ?? []
  const time = Date.parse(text)
  const midnight = Date.parse(day)
  if (Number.isNaN(time) || Number.isNaN(midnight)) return null
  return timestamp(midnight).startsWith(day) ? time : null
}

/** `90d` after `now`, or a future date; milliseconds since the epoch. Throws InvalidArgumentError. */
export function readExpiry(text: string, now: number): number {
  const [, days] = /^(\d{1,5})d$/.exec(text) ?? []
  const time = days === undefined ? timeOf(text) : now + Number(days) * DAY
  if (time !== null && time > now) return time
  throw new InvalidArgumentError(
    'Allowed is a number of days such as 90d, or a date to come such as 2030-01-31.',
  )
}

/** Bytes a second. Throws InvalidArgumentError. */
export function readRate(text: string): number {
  const rate = parseSize(text)
  if (rate !== null && rate > 0) return rate
  throw new InvalidArgumentError('Allowed is a size such as 50MB.')
}
