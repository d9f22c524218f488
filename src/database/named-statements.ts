/**
 * Names under which PostgreSQL keeps prepared statements, so that it parses and plans each once a connection. A name is
 * derived from the text: where a pooler mixes up the connections of nodes, a name is missing or known already, but never
 * another statement.
 */
const names = new Map<string, string>()

/** Has the statement prepared from now on. For a bounded number of texts: neither side forgets one. */
export function nameStatement(text: string): void {
  if (!names.has(text)) names.set(text, `holdfast_${Bun.hash(text).toString(36)}`)
}

/** How one pool of connections names its statements. */
export class StatementNames {
  #isOn: boolean
  /** Rounds of preparing every statement anew. */
  #round = 0

  constructor(isOn: boolean) {
    this.#isOn = isOn
  }

  /** Name of the statement, or undefined for one that is parsed each time. */
  of(text: string): string | undefined {
    if (!this.#isOn) return undefined
    const name = names.get(text)
    return name === undefined || this.#round === 0 ? name : `${name}_${this.#round}`
  }

  /**
   * Learns from the error of a statement with that name, where it says that the prepared one cannot be used, and returns
   * whether it does: the statement was not executed, and can be sent again. After a change of its tables all are
   * prepared anew; behind a pooler that keeps none, they are not prepared at all.
   */
  learn(error: unknown, text: string, name: string | undefined): boolean {
    if (!isUnusableStatement(error)) return false
    // Others may have met the same error on their connections before.
    if (name === this.of(text)) {
      if (isOutdatedPlan(error)) this.#round++
      else this.#isOn = false
    }
    return true
  }
}

/**
 * Whether the statement was not executed because what was prepared under its name is missing, is there already, or was
 * prepared before a migration changed its columns.
 */
export function isUnusableStatement(error: unknown): boolean {
  return isOutdatedPlan(error) || codeOf(error) === '26000' || codeOf(error) === '42P05'
}

/** PostgreSQL tells it from other unsupported features by the place in its source alone. */
function isOutdatedPlan(error: unknown): boolean {
  const isRevalidation =
    error instanceof Error && 'routine' in error && error.routine === 'RevalidateCachedQuery'
  return isRevalidation && codeOf(error) === '0A000'
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : null
}
