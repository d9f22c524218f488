import { InvalidArgumentError } from 'commander'
import { SMALLEST_CHUNK } from '../client/chunk-size.ts'
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
