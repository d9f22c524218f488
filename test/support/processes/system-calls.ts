/** Records the system calls of a server with strace, or lets them fail. */
import { readFileSync } from 'node:fs'
import { eventually } from '../eventually.ts'
import type { ChildWrapping } from './child.ts'
import { startProgram } from './program.ts'
import { type Tool, toolPath } from './tools.ts'

export const TRACING_TOOLS: readonly Tool[] = ['strace']

/** Longest data of one call that is recorded; longer data is an error when it is used. */
const LONGEST_DATA = 1024 * 1024

/** A system call between two lines of the record: its effect came at some moment from `begun` to `ended`. */
export interface SystemCall {
  readonly name: string
  readonly words: readonly string[]
  readonly begun: number
  /** Infinity for a call in which the process was killed. */
  readonly ended: number
  /** Negative for a failure; null where the process was killed. */
  readonly result: number | null
}

/**
 * Makes a server write what it and its children call to that file. The server is the started process itself, so that
 * signals reach it.
 */
export function traced(file: string, calls: readonly string[]): ChildWrapping {
  const strace = toolPath('strace') ?? 'strace'
  const what = ['-e', `trace=${calls.join(',')}`, '-s', String(LONGEST_DATA)]
  return { command: [strace, '-D', '-f', '--seccomp-bpf', '-y', '-xx', '-o', file, ...what] }
}

export interface CallFaults {
  /** Only calls about these files fail, by name or by descriptor. */
  readonly paths: readonly string[]
  readonly calls: readonly string[]
  readonly error: 'EIO'
  /** Of such calls of a thread, the first one that fails; all after it do too. */
  readonly from?: number
}

/** What a program runs under that cannot make these calls. It is the started process itself. */
export function failing({ paths, calls, error, from = 1 }: CallFaults): readonly string[] {
  const strace = toolPath('strace') ?? 'strace'
  const named = calls.join(',')
  const which = paths.flatMap((path) => ['-P', path])
  const what = ['-e', `trace=${named}`, '-e', `inject=${named}:error=${error}:when=${from}+`]
  return [strace, '-D', '-f', '--seccomp-bpf', '-o', '/dev/null', ...which, ...what]
}

/** Milliseconds. */
const TRACER_ENDS = 1000

export interface PassingFault {
  readonly calls: readonly string[]
  readonly error: 'EIO' | 'ENOSPC'
  /** Of the calls of each thread from now on, the only one that fails. */
  readonly nth: number
}

/** Lets a running process fail at calls. What comes back ends that, and returns how many calls have failed. */
export async function failNow(
  pid: number,
  { calls, error, nth }: PassingFault,
): Promise<() => Promise<number>> {
  const strace = toolPath('strace') ?? 'strace'
  const named = calls.join(',')
  const what = ['-e', `trace=${named}`, '-e', `inject=${named}:error=${error}:when=${nth}`]
  const tracer = startProgram([strace, '-f', '-p', String(pid), '-o', '/dev/stdout', ...what])
  await eventually('the process is traced', () => tracer.errors().includes('attached'))
  return async () => {
    tracer.kill('SIGTERM')
    // A tracer whose process ends at the same moment sometimes waits for it for ever.
    const timer = setTimeout(() => tracer.kill('SIGKILL'), TRACER_ENDS)
    const { output } = await tracer.ended
    clearTimeout(timer)
    return output.split('(INJECTED)').length - 1
  }
}

/** The calls in the order in which they ended, once that process has ended. */
export async function systemCalls(file: string, pid: number): Promise<SystemCall[]> {
  const end = new RegExp(`^${pid} +\\+\\+\\+ (exited with|killed by)`, 'm')
  let text = ''
  await eventually('the system calls are recorded', () => {
    text = readFileSync(file, 'latin1')
    return end.test(text)
  })
  return [...parsed(text)]
}

function* parsed(text: string): Generator<SystemCall> {
  const unfinished = new Map<
    string,
    { readonly name: string; readonly begin: string; readonly begun: number }
  >()
  let number = 0
  for (const line of text.split('\n')) {
    number += 1
    const [, thread = '', said = ''] = /^(\d+) +(.*)$/.exec(line) ?? []
    const [, begin] = /^(.*) <unfinished \.\.\.>$/.exec(said) ?? []
    if (begin !== undefined) {
      const [, name = ''] = /^(\w+)\(/.exec(begin) ?? []
      unfinished.set(thread, { name, begin, begun: number })
      continue
    }
    const [, rest] = /^<\.\.\. \w+ resumed>(.*)$/.exec(said) ?? []
    const former = rest === undefined ? undefined : unfinished.get(thread)
    if (former !== undefined) unfinished.delete(thread)
    const call = parsedCall((former?.begin ?? '') + (rest ?? said), former?.begun ?? number, number)
    if (call !== null) yield call
  }
  for (const { name, begin, begun } of unfinished.values()) {
    yield {
      name,
      words: wordsOf(begin.slice(name.length + 1)),
      begun,
      ended: Number.POSITIVE_INFINITY,
      result: null,
    }
  }
}

/** Null for a line that tells of a signal or an exit. */
function parsedCall(said: string, begun: number, ended: number): SystemCall | null {
  const [, name, inside = '', result = ''] = /^(\w+)\((.*)\) += (-?\d+|\?)/.exec(said) ?? []
  if (name === undefined) return null
  if (result === '?')
    return { name, words: wordsOf(inside), begun, ended: Number.POSITIVE_INFINITY, result: null }
  return { name, words: wordsOf(inside), begun, ended, result: Number(result) }
}

/** Everything that could hold a comma is in hexadecimal digits. */
const wordsOf = (inside: string) => inside.split(', ')

/** The bytes of a string argument. */
export function bytesOf(word: string | undefined): Uint8Array<ArrayBuffer> {
  const [, hex, more] = /^"((?:\\x[0-9a-f]{2})*)"(\.\.\.)?$/.exec(word ?? '') ?? []
  if (hex === undefined || more !== undefined) throw new Error(`${word?.slice(0, 80)} is not a whole string`)
  return Uint8Array.from(Buffer.from(hex.replaceAll('\\x', ''), 'hex'))
}

/** Path of an open file or folder: of `3</path>`; null when it was removed or is none. */
export function openPath(word: string | undefined): string | null {
  const [, hex, removed] = /^(?:\d+|AT_FDCWD)<((?:\\x[0-9a-f]{2})*)>(\(deleted\))?/.exec(word ?? '') ?? []
  if (hex === undefined || removed !== undefined) return null
  return Buffer.from(hex.replaceAll('\\x', ''), 'hex').toString()
}
