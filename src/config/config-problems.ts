/** One variable that is wrong: its text as it may be shown, and what is allowed. */
export interface ConfigProblem {
  readonly variable: string
  readonly value: string
  readonly reason: string
}

/** The environment cannot be used. The message lists every wrong variable, one a line. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'

  constructor(readonly problems: readonly ConfigProblem[]) {
    super(problems.map(({ variable, value, reason }) => `${variable} is "${value}": ${reason}`).join('\n'))
  }
}
