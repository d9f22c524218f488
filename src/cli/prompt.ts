import { Writable } from 'node:stream'
import { ClientError } from '../client/failure.ts'

export function isInteractive(): boolean {
  return process.stdin.isTTY === true && process.stderr.isTTY === true
}

/** Prompts on standard error, so that standard output stays clean. */
export async function promptLine(question: string): Promise<string> {
  return ask(process.stderr, question)
}

export async function promptSecret(question: string): Promise<string> {
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() })
  // Prompts only after echo is off.
  const answer = await ask(nowhere, '', () => process.stderr.write(question))
  process.stderr.write('\n')
  return answer
}

export async function readSecretLine(): Promise<string> {
  const [line = ''] = (await Bun.stdin.text()).split('\n', 1)
  return line.trim()
}

/** `listening` is called when input is being read. */
async function ask(
  output: NodeJS.WritableStream,
  question: string,
  listening: () => void = () => {},
): Promise<string> {
  // Most commands prompt for nothing.
  const { createInterface } = await import('node:readline/promises')
  const lines = createInterface({ input: process.stdin, output, terminal: true })
  const stopped = new AbortController()
  lines.on('SIGINT', () => stopped.abort())
  lines.on('close', () => stopped.abort())
  try {
    listening()
    return await lines.question(question, { signal: stopped.signal })
  } catch (error) {
    if (stopped.signal.aborted) throw new ClientError('stopped.')
    throw error
  } finally {
    lines.close()
  }
}
