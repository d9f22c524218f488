const MOST_AT_ONCE = 256

/** Milliseconds after which a statement no longer delays later questions. */
const PATIENCE = 20

/** Concurrent statements, where the database is slow. */
const MOST_UNDER_WAY = 8

interface Waiting<Question, Answer> {
  readonly question: Question
  readonly resolve: (answer: Answer) => void
  readonly reject: (error: unknown) => void
}

/**
 * Answers concurrent questions with few statements: during one, new questions wait for the next. An answer is never
 * older than its question, a lone question is not delayed, and a question's cost falls with load.
 */
export class Batcher<Question, Answer> {
  readonly #answer: (questions: readonly Question[]) => Promise<readonly Answer[]>
  readonly #mostUnderWay: number
  #waiting: Waiting<Question, Answer>[] = []
  #underWay = 0
  #begunAt = 0

  /** `answer`: one answer a question, in order. */
  constructor(
    answer: (questions: readonly Question[]) => Promise<readonly Answer[]>,
    mostUnderWay = MOST_UNDER_WAY,
  ) {
    this.#answer = answer
    this.#mostUnderWay = mostUnderWay
  }

  ask(question: Question): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ question, resolve, reject })
      if (this.#mayBegin()) void this.#begin()
    })
  }

  #mayBegin(): boolean {
    if (this.#underWay === 0) return true
    return this.#underWay < this.#mostUnderWay && performance.now() - this.#begunAt > PATIENCE
  }

  async #begin(): Promise<void> {
    const asked = this.#waiting.splice(0, MOST_AT_ONCE)
    if (asked.length === 0) return
    this.#underWay++
    this.#begunAt = performance.now()
    try {
      const answers = await this.#answer(asked.map(({ question }) => question))
      for (const [index, { resolve }] of asked.entries()) {
        const answer = answers[index]
        if (answer === undefined) throw new Error('a question has no answer')
        resolve(answer)
      }
    } catch (error) {
      // No effect on answered ones.
      for (const { reject } of asked) reject(error)
    } finally {
      this.#underWay--
    }
    void this.#begin()
  }
}
