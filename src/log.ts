import { writeSync } from 'node:fs'
import { type DestinationStream, stdSerializers } from 'pino'
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

const STANDARD_OUTPUT = 1
/** Milliseconds that a line may wait for others to be written with it. */
const TOGETHER = 100
/** Characters that are written without waiting for more. */
const ENOUGH = 16 * 1024
/** Bytes that may wait for a reader that does not read; beyond it the log is less worth than the memory. */
const TOO_MUCH = 16 * 1024 * 1024
/** Milliseconds that the end of the process waits for a slow reader. */
const LAST_CHANCE = 2000

const LEVELS = ['debug', 'info', 'warn', 'error'] as const

/**
 * A log on standard output: lines for people on a terminal, otherwise one JSON object a line with `level`, `time`
 * (ISO 8601 UTC), the fields and `msg`. JSON lines are written together, at most 100 ms late, so that a request
 * costs no system call of its own; what is left is written when the process exits, by itself or by an error.
 * A reader that has gone away is no failure.
 */
export function createLog(lowest: LogLevel, { terminal }: { readonly terminal: boolean }): Log {
  // pino-pretty as a plain stream: the usual worker thread would lose the last lines of a process.
  const destination = terminal
    ? pretty({ destination: STANDARD_OUTPUT, sync: true, singleLine: true, translateTime: 'SYS:HH:MM:ss.l' })
    : standardOutput()
  const writer = (level: (typeof LEVELS)[number]): Log['info'] =>
    lowest === 'silent' || LEVELS.indexOf(level) < LEVELS.indexOf(lowest)
      ? () => {}
      : (fields, message) => void destination.write(lineOf(level, fields, message))
  return { debug: writer('debug'), info: writer('info'), warn: writer('warn'), error: writer('error') }
}

/** Made here, at once: every request waits for its line, and pino takes several times as long, field by field. */
function lineOf(level: string, fields: LogFields, msg: string): string {
  const line = { level, time: presentTime(), ...fields, msg }
  if (!('err' in fields)) return `${JSON.stringify(line)}\n`
  const { err } = fields
  try {
    return `${JSON.stringify({ ...line, err: err instanceof Error ? stdSerializers.err(err) : err })}\n`
  } catch {
    // Some errors carry what cannot be written, such as themselves.
    return `${JSON.stringify({ ...line, err: err instanceof Error ? (err.stack ?? err.message) : String(err) })}\n`
  }
}

let lastTime = { milliseconds: Number.NaN, text: '' }

/** One text for all lines of a millisecond, of which there may be dozens. */
function presentTime(): string {
  const milliseconds = Date.now()
  if (milliseconds !== lastTime.milliseconds) {
    lastTime = { milliseconds, text: new Date(milliseconds).toISOString() }
  }
  return lastTime.text
}

let jsonLines: DestinationStream | null = null

/** One for the process, as its standard output is. */
function standardOutput(): DestinationStream {
  jsonLines ??= openJsonLines()
  return jsonLines
}

/**
 * Written here and not by pino's own stream, which at the end of the process tries for ever to write to a reader that
 * is no more.
 */
function openJsonLines(): DestinationStream {
  let lines = ''
  let unwritten = Buffer.alloc(0)
  let timer: ReturnType<typeof setTimeout> | undefined

  const write = () => {
    unwritten = writeSome(lines === '' ? unwritten : Buffer.concat([unwritten, Buffer.from(lines)]))
    lines = ''
  }
  const flush = () => {
    clearTimeout(timer)
    timer = undefined
    write()
    if (unwritten.length > TOO_MUCH) unwritten = Buffer.alloc(0)
    if (unwritten.length > 0) later()
  }
  const later = () => {
    timer ??= setTimeout(flush, TOGETHER).unref()
  }
  process.on('exit', () => {
    const end = performance.now() + LAST_CHANCE
    write()
    while (unwritten.length > 0 && performance.now() < end) {
      Bun.sleepSync(10)
      write()
    }
  })
  return {
    write(line) {
      lines += line
      if (lines.length >= ENOUGH) flush()
      else later()
    },
  }
}

/** Writes as much as standard output takes now and gives back the rest: nothing when its reader is no more. */
function writeSome(bytes: Buffer<ArrayBuffer>): Buffer<ArrayBuffer> {
  let written = 0
  try {
    while (written < bytes.length) written += writeSync(STANDARD_OUTPUT, bytes, written)
  } catch (error) {
    const full = error instanceof Error && 'code' in error && error.code === 'EAGAIN'
    if (full) return bytes.subarray(written)
  }
  return Buffer.alloc(0)
}
