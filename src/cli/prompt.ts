import { createInterface } from 'node:readline/promises'
import { Writable } from 'node:stream'
import { ClientError } from '../client/failure.ts'

/** Whether there is somebody to be asked. */
export function isSomebodyThere(): boolean {
  return process.stdin.isTTY === true && process.stderr.isTTY === true
}

/** One line from the terminal, asked for on standard error so that standard output stays clean. */
export async function askLine(question: string): Promise<string> {
  return ask(process.stderr, question)
}

/** The same, with nothing shown of what is typed. */
export async function askSecret(question: string): Promise<string> {
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() })
  // The terminal has to have stopped showing what is typed before somebody is asked to type.
  const answer = await ask(nowhere, '', () => process.stderr.write(question))
  process.stderr.write('\n')
  return answer
}

/** The first line of standard input, when that is no terminal. */
export async function readSecretLine(): Promise<string> {
  const [line = ''] = (await Bun.stdin.text()).split('\n', 1)
  return line.trim()
}

/** `listening`: called when what is typed is taken. */
async function ask(
  output: NodeJS.WritableStream,
  question: string,
  listening: () => void = () => {},
): Promise<string> {
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
