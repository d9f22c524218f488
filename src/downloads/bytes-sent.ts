import type { ByteClaims, PromisedBytes } from '../sharing/links/link-slots.ts'

export interface BytesSent {
  add(bytes: number): void
  /** May be called more than once. */
  over(): void
}

const UNCOUNTED: BytesSent = { add() {}, over() {} }

/** Clients probe for range support within the first two bytes of a longer content: neither view nor download. */
export function isProbe({ end, whole }: Pick<PromisedBytes, 'end' | 'whole'>): boolean {
  return end <= 2 && end < whole
}

/** Counts a download before the first byte, unless it is a probe. Throws Refusal LINK_USED_UP. */
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
