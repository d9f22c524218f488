/** A line to change, and the program whose configuration has it. */
export interface Change {
  readonly where: string
  readonly line: string
}

/** Result of one check. */
export interface Finding {
  /** Stable name of the check, for programs. */
  readonly check: string
  /** `unknown`: it could not be found out here. */
  readonly level: 'ok' | 'advice' | 'problem' | 'unknown'
  readonly what: string
  /** Why it matters; empty where all is well. */
  readonly why: string
  readonly changes: readonly Change[]
}

export function fine(check: string, what: string): Finding {
  return { check, level: 'ok', what, why: '', changes: [] }
}

export function unknown(check: string, what: string): Finding {
  return { check, level: 'unknown', what, why: '', changes: [] }
}

export function problem(check: string, what: string, why: string, changes: readonly Change[] = []): Finding {
  return { check, level: 'problem', what, why, changes }
}

export function advice(check: string, what: string, why: string, changes: readonly Change[] = []): Finding {
  return { check, level: 'advice', what, why, changes }
}

/** Error as one line. */
export function reasonOf(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).split('\n', 1)[0] ?? ''
}
