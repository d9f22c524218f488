/** Input and output of the client process. Times are seconds, sizes bytes. */
import { runProgram } from '../test/support/processes/program.ts'

export type ClientJob = MeasuredUploadJob | DownloadJob | DownloadsJob

export interface MeasuredUploadJob {
  readonly kind: 'upload'
  /**
   * `multipart` posts a form to `url`; `put` puts to `url` plus a name and syncs the file in `folder`. `tus`
   * uses that protocol with `chunk` bytes per request, and `tus-synced` then syncs the file in `folder`.
   */
  readonly to:
    | { readonly how: 'multipart'; readonly url: string; readonly key: string }
    | { readonly how: 'put'; readonly url: string; readonly folder: string }
    | { readonly how: 'tus'; readonly url: string; readonly key: string; readonly chunk: number }
    | { readonly how: 'tus-synced'; readonly url: string; readonly folder: string; readonly chunk: number }
  readonly size: number
  readonly count: number
  /** Concurrent keep-alive connections. */
  readonly connections: number
  /** Number of the first content; the following ones count up. */
  readonly firstNumber: number
}

export interface DownloadJob {
  readonly kind: 'download'
  readonly url: string
  /** Null reads the whole file; otherwise that many ranges, random but reproducible, on one connection. */
  readonly ranges: { readonly count: number; readonly length: number; readonly size: number } | null
  /** Key that is sent with each request; none unless told. */
  readonly key?: string
  /** Also computes the SHA-256 of the received bytes, which costs the client time. */
  readonly hash: boolean
}

export interface DownloadsJob {
  readonly kind: 'downloads'
  /** A JSON file with addresses on one server, each read completely, one after another on one connection. */
  readonly list: string
}

export interface ClientResult {
  readonly seconds: number
  readonly bytes: number
  /** Slugs of the files on Holdfast, or other servers' names for them. */
  readonly slugs: readonly string[]
  readonly sha256: string | null
}

/** Runs the job in a process of its own, so that its CPU time and memory are separate from the server's. */
export async function runClient(job: ClientJob): Promise<ClientResult> {
  const command = [process.execPath, `${import.meta.dir}/client.ts`, JSON.stringify(job)]
  const { code, output, errors } = await runProgram(command)
  if (code !== 0) throw new Error(`the client failed: ${errors.trim().slice(0, 2000)}`)
  return JSON.parse(output)
}
