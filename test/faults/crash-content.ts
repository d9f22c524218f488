import { type Chance, chance } from '../support/chance.ts'

const KIB = 1024

/** Some contents come again and again, from every worker, so that files share blobs. */
export function crashContent(own: Chance): Uint8Array<ArrayBuffer> {
  if (own.fraction() < 0.3) {
    const number = own.whole(1, 6)
    return chance(number).bytes(number * 10 * KIB)
  }
  const roll = own.fraction()
  if (roll < 0.1) return own.bytes(own.whole(0, 1))
  if (roll < 0.7) return own.bytes(own.whole(1, 64 * KIB))
  if (roll < 0.95) return own.bytes(own.whole(64 * KIB, 512 * KIB))
  return own.bytes(own.whole(512 * KIB, 2048 * KIB))
}
