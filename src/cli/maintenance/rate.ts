import { InvalidArgumentError } from 'commander'
import { parseSize } from '../../domain/sizes.ts'

/** Bytes a second. Throws InvalidArgumentError. */
export function readRate(text: string): number {
  const rate = parseSize(text)
  if (rate !== null && rate > 0) return rate
  throw new InvalidArgumentError('Allowed is a size such as 50MB.')
}
