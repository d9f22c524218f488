export interface ReadRequest {
  readonly question: number
  readonly path: string
  readonly text: string
  readonly parameters: readonly unknown[]
}

export type ReadReply =
  | { readonly question: number; readonly rows: unknown[] }
  | { readonly question: number; readonly message: string; readonly code: string }
