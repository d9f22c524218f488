/** Worker thread for long SQLite queries, in sequence on its own connection. */
import type { Database, SQLQueryBindings } from 'bun:sqlite'
import { bindings, openForReading } from './sqlite-file.ts'
import type { ReadReply, ReadRequest } from './sqlite-reader-messages.ts'

declare const self: Worker

let file: Database | null = null

function answer({ question, path, text, parameters }: ReadRequest): ReadReply {
  try {
    file ??= openForReading(path)
    return {
      question,
      rows: file.query<unknown, SQLQueryBindings[]>(text).all(...bindings(parameters)),
    }
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : ''
    return { question, message: error instanceof Error ? error.message : String(error), code }
  }
}

self.onmessage = ({ data }: MessageEvent<ReadRequest>) => self.postMessage(answer(data))
