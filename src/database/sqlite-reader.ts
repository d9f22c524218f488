import type { Database, SQLQueryBindings } from 'bun:sqlite'
import { bindings, openForReading } from './sqlite-file.ts'

/** Worker thread for long SQLite queries, in sequence on its own connection. */

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

export interface ReadRequest {
  readonly question: number
  readonly path: string
  readonly text: string
  readonly parameters: readonly unknown[]
}

export type ReadReply =
  | { readonly question: number; readonly rows: unknown[] }
  | { readonly question: number; readonly message: string; readonly code: string }
