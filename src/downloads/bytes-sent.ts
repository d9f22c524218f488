import type { ByteClaims, PromisedBytes } from '../sharing/links/byte-claims.ts'

/** Counts the bytes of one answer, for the link by which they are downloaded. */
export interface BytesSent {
  add(bytes: number): void
  /** Nothing more is sent. May be called more than once. */
  over(): void
}

const UNCOUNTED: BytesSent = { add() {}, over() {} }

/**
 * Whether programs ask with such a range for nothing but whether ranges are answered: it ends within the first two bytes of
 * a longer content, and counts as neither view nor download.
 */
export function isProbe({ end, whole }: Pick<PromisedBytes, 'end' | 'whole'>): boolean {
  return end <= 2 && end < whole
}

/** Counts it as a download, before the first byte, unless it is a probe. Throws Refusal LINK_USED_UP. */
export async function beginSending(claims: ByteClaims | null, promised: PromisedBytes): Promise<BytesSent> {
  if (claims === null || isProbe(promised)) return UNCOUNTED
  const claim = await claims.begin(promised)
  let left = promised.end - promised.start
  let isOver = false
  return {
    add(more) {
      left -= more
    },
    over() {
      if (isOver) return
      isOver = true
      claim.end(left)
    },
  }
}
