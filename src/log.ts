import pino from 'pino'
import pretty from 'pino-pretty'
import type { LogLevel } from './config.ts'

/** What a line says besides its message. An error goes under `err`, and its stack and causes are written out. */
export type LogFields = Readonly<Record<string, unknown>>

/** The log of one server. No line may hold an API key, a password, a token or an address with one in it. */
export interface Log {
  debug(fields: LogFields, message: string): void
  info(fields: LogFields, message: string): void
  warn(fields: LogFields, message: string): void
  error(fields: LogFields, message: string): void
}

/**
 * A log on standard output: lines for people on a terminal, otherwise one JSON object a line with `level`, `time`
 * (ISO 8601 UTC), the fields and `msg`. JSON lines are written together, at most 100 ms late, so that a request
 * costs no system call of its own; what is left is written when the process exits, by itself or by an error.
 * A reader that has gone away is no failure.
 */
export function createLog(level: LogLevel, { terminal }: { readonly terminal: boolean }): Log {
  const options: pino.LoggerOptions = {
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
  }
  // pino-pretty as a plain stream: pino's usual worker thread would lose the last lines of a process.
  const destination = terminal
    ? pretty({ destination: 1, sync: true, singleLine: true, translateTime: 'SYS:HH:MM:ss.l' })
    : pino.destination({ dest: 1, sync: false, minLength: 4096, periodicFlush: 100 })
  const logger = pino(options, destination)
  return {
    debug: (fields, message) => logger.debug(fields, message),
    info: (fields, message) => logger.info(fields, message),
    warn: (fields, message) => logger.warn(fields, message),
    error: (fields, message) => logger.error(fields, message),
  }
}
