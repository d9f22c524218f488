import { Refusal } from '../../domain/errors.ts'

/** Limits concurrent responses of one kind, each of which holds memory until its reader has taken it. */
export interface ConcurrencyLimit {
  /**
   * Returns a function that ends the response; it may be called repeatedly. Throws Refusal RATE_LIMITED when
   * the subject has too many under way, SERVER_BUSY when all together have.
   */
  begin(subject: string): () => void
}

/** Seconds suggested for a retry. */
const RETRY = 5

export function createConcurrencyLimit(ofAll: number, ofEach: number): ConcurrencyLimit {
  const perSubject = new Map<string, number>()
  let all = 0
  return {
    begin(subject) {
      const others = perSubject.get(subject) ?? 0
      if (others >= ofEach) {
        throw new Refusal(
          'RATE_LIMITED',
          `At most ${ofEach} of these run for you at once; try again soon`,
          RETRY,
        )
      }
      if (all >= ofAll) {
        throw new Refusal('SERVER_BUSY', 'Too much is asked of this server at once; try again soon', RETRY)
      }
      all += 1
      perSubject.set(subject, others + 1)
      let isOver = false
      return () => {
        if (isOver) return
        isOver = true
        all -= 1
        const left = (perSubject.get(subject) ?? 1) - 1
        if (left === 0) perSubject.delete(subject)
        else perSubject.set(subject, left)
      }
    },
  }
}
