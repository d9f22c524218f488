import type { Log, LogFields } from '../../src/log.ts'

export interface KeptLine {
  readonly level: 'debug' | 'info' | 'warn' | 'error'
  readonly fields: LogFields
  readonly message: string
}

/** A log that keeps its lines in memory. */
export interface KeptLog extends Log {
  readonly lines: readonly KeptLine[]
}

export function keptLog(): KeptLog {
  const lines: KeptLine[] = []
  const keep = (level: KeptLine['level']) => (fields: LogFields, message: string) => {
    lines.push({ level, fields, message })
  }
  return { lines, debug: keep('debug'), info: keep('info'), warn: keep('warn'), error: keep('error') }
}
