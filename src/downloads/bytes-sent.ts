import type { ByteClaims, PromisedBytes } from '../sharing/links/byte-claims.ts'

/** Counts the bytes of one answer, for the link by which they are downloaded. */
export interface BytesSent {
  add(bytes: number): void
  /** Nothing more is sent. May be called more than once. */
  over(): void
}

const UNCOUNTED: BytesSent = { add() {}, over() {} }

/** Counts it as a download, before the first byte. Throws Refusal LINK_USED_UP. */
export async function beginSending(claims: ByteClaims | null, promised: PromisedBytes): Promise<BytesSent> {
  if (claims === null) return UNCOUNTED
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
