export interface ConfigProblem {
  readonly variable: string
  readonly value: string
  readonly reason: string
}

/** The message lists every wrong variable, one a line. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'

  constructor(readonly problems: readonly ConfigProblem[]) {
    super(problems.map(({ variable, value, reason }) => `${variable} is "${value}": ${reason}`).join('\n'))
  }
}
