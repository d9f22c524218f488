/**
 * Names of prepared statements, so that PostgreSQL plans each once a connection. Derived from the text: where a pooler
 * mixes connections, a name may be missing or known, but never another statement.
 */
const names = new Map<string, string>()

/** For a bounded number of texts: neither side forgets one. */
export function nameStatement(text: string): void {
  if (!names.has(text)) names.set(text, `holdfast_${Bun.hash(text).toString(36)}`)
}

export class StatementNames {
  #isOn: boolean
  #round = 0

  constructor(isOn: boolean) {
    this.#isOn = isOn
  }

  of(text: string): string | undefined {
    if (!this.#isOn) return undefined
    const name = names.get(text)
    return name === undefined || this.#round === 0 ? name : `${name}_${this.#round}`
  }

  /**
   * True when the prepared statement was unusable: it was not executed and can be sent again. After a change of tables
   * all are prepared anew; behind a pooler that keeps none, preparing ends.
   */
  learn(error: unknown, text: string, name: string | undefined): boolean {
    if (!isUnusableStatement(error)) return false
    // Another connection may have met the error before.
    if (name === this.of(text)) {
      if (isOutdatedPlan(error)) this.#round++
      else this.#isOn = false
    }
    return true
  }
}

/** Not executed, because the name is missing, exists already, or predates a migration of its columns. */
export function isUnusableStatement(error: unknown): boolean {
  return isOutdatedPlan(error) || codeOf(error) === '26000' || codeOf(error) === '42P05'
}

/** PostgreSQL distinguishes it from other unsupported features only by the source routine. */
function isOutdatedPlan(error: unknown): boolean {
  const isRevalidation =
    error instanceof Error && 'routine' in error && error.routine === 'RevalidateCachedQuery'
  return isRevalidation && codeOf(error) === '0A000'
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : null
}
