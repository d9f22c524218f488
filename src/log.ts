import { writeSync } from 'node:fs'
import { type DestinationStream, stdSerializers } from 'pino'
import pretty from 'pino-pretty'
import type { Config } from './config.ts'

/** An error under `err` is written with stack and causes. */
export type LogFields = Readonly<Record<string, unknown>>

/** No line may hold an API key, a password, a token or an address with one. */
export interface Log {
  debug(fields: LogFields, message: string): void
  info(fields: LogFields, message: string): void
  warn(fields: LogFields, message: string): void
  error(fields: LogFields, message: string): void
}

const STANDARD_OUTPUT = 1
/** Milliseconds for which lines are collected. */
const TOGETHER = 100
/** Characters written without waiting. */
const ENOUGH = 16 * 1024
/** Bytes waiting for a slow reader; beyond it lines are dropped. */
const TOO_MUCH = 16 * 1024 * 1024
/** Milliseconds for a slow reader at the end of the process. */
const LAST_CHANCE = 2000

const LEVELS = ['debug', 'info', 'warn', 'error'] as const

/**
 * On standard output: lines for people on a terminal, otherwise one JSON object a line with `level`, `time` (ISO 8601
 * UTC), the fields and `msg`. JSON lines are collected for at most 100 ms, so that a request costs no system call; the
 * rest is written when the process exits, also by an error. A reader that has gone is no failure.
 */
export function createLog(lowest: Config['logLevel'], { terminal }: { readonly terminal: boolean }): Log {
  // pino-pretty's usual worker thread would lose the last lines.
  const destination = terminal
    ? pretty({ destination: STANDARD_OUTPUT, sync: true, singleLine: true, translateTime: 'SYS:HH:MM:ss.l' })
    : standardOutput()
  const writer = (level: (typeof LEVELS)[number]): Log['info'] =>
    lowest === 'silent' || LEVELS.indexOf(level) < LEVELS.indexOf(lowest)
      ? () => {}
      : (fields, message) => void destination.write(lineOf(level, fields, message))
  return { debug: writer('debug'), info: writer('info'), warn: writer('warn'), error: writer('error') }
}

/** Built at once: every request waits for its line, and pino takes several times as long. */
function lineOf(level: string, fields: LogFields, msg: string): string {
  const line = { level, time: presentTime(), ...fields, msg }
  if (!('err' in fields)) return `${JSON.stringify(line)}\n`
  const { err } = fields
  try {
    return `${JSON.stringify({ ...line, err: err instanceof Error ? stdSerializers.err(err) : err })}\n`
  } catch {
    // Some errors carry unserializable values, such as themselves.
    return `${JSON.stringify({ ...line, err: err instanceof Error ? (err.stack ?? err.message) : String(err) })}\n`
  }
}

let lastTime = { milliseconds: Number.NaN, text: '' }

/** Cached per millisecond, which may have dozens of lines. */
function presentTime(): string {
  const milliseconds = Date.now()
  if (milliseconds !== lastTime.milliseconds) {
    lastTime = { milliseconds, text: new Date(milliseconds).toISOString() }
  }
  return lastTime.text
}

let jsonLines: DestinationStream | null = null

function standardOutput(): DestinationStream {
  jsonLines ??= openJsonLines()
  return jsonLines
}

/** Instead of pino's stream, which at the end of the process retries for ever without a reader. */
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

/** Returns what standard output does not take now; nothing when its reader is gone. */
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
