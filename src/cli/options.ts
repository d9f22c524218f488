import { InvalidArgumentError } from 'commander'
import { SMALLEST_CHUNK } from '../client/chunk-size.ts'
import { DAY } from '../domain/clock.ts'
import { SCOPES, type Scope } from '../domain/scopes.ts'
import { formatSize, parseSize } from '../domain/sizes.ts'

/** How much is done at once. Commander shows what it throws. */
export function readParallel(text: string): number {
  const number = /^\d{1,3}$/.test(text) ? Number(text) : 0
  if (number >= 1 && number <= 64) return number
  throw new InvalidArgumentError('Allowed is a whole number from 1 to 64.')
}

/** Bytes of one request. Commander shows what it throws. */
export function readChunkSize(text: string): number {
  const size = parseSize(text)
  if (size !== null && size >= SMALLEST_CHUNK) return size
  throw new InvalidArgumentError(`Allowed is a size from ${formatSize(SMALLEST_CHUNK)} up, such as 16MB.`)
}

/** The number of something in a list. Commander shows what it throws. */
export function readNumber(text: string): number {
  const number = /^\d{1,15}$/.test(text) ? Number(text) : 0
  if (number >= 1) return number
  throw new InvalidArgumentError('Allowed is a number, as the list shows it.')
}

/** Scopes with commas between them. Commander shows what it throws. */
export function readScopes(text: string): readonly Scope[] {
  const words = text.split(',').map((word) => word.trim())
  const scopes = SCOPES.filter((scope) => words.includes(scope))
  if (scopes.length > 0 && words.every((word) => SCOPES.some((scope) => scope === word))) return scopes
  throw new InvalidArgumentError(`Allowed are ${SCOPES.join(', ')}, with commas between them.`)
}

/** A time to come, in milliseconds since the epoch: so many days after `now`, or a date. Commander shows what it throws. */
export function readExpiry(text: string, now: number): number {
  const [, days] = /^(\d{1,5})d$/.exec(text) ?? []
  const isDate = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d{1,3})?)?(Z|[+-]\d\d:\d\d))?$/.test(text)
  const time = days === undefined ? (isDate ? Date.parse(text) : Number.NaN) : now + Number(days) * DAY
  if (time > now) return time
  throw new InvalidArgumentError(
    'Allowed is a number of days such as 90d, or a date to come such as 2030-01-31.',
  )
}
