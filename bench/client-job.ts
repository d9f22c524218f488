/** What the client process is asked to do, and what it found. Times are seconds, sizes bytes. */
export type ClientJob = UploadJob | DownloadJob | DownloadsJob

export interface UploadJob {
  readonly kind: 'upload'
  /**
   * `multipart` posts a form to `url`; `put` puts to `url` plus a name and syncs the file in `folder`. `tus` sends by that
   * protocol, so many bytes in each request, and `tus-synced` then syncs the file in `folder`.
   */
  readonly to:
    | { readonly how: 'multipart'; readonly url: string; readonly key: string }
    | { readonly how: 'put'; readonly url: string; readonly folder: string }
    | { readonly how: 'tus'; readonly url: string; readonly key: string; readonly chunk: number }
    | { readonly how: 'tus-synced'; readonly url: string; readonly folder: string; readonly chunk: number }
  readonly size: number
  readonly count: number
  /** Keep-alive connections at once. */
  readonly connections: number
  /** The number of the first content; those after it count on. */
  readonly firstNumber: number
}

export interface DownloadJob {
  readonly kind: 'download'
  readonly url: string
  /** Null reads the whole; else so many ranges, picked at random but the same in every run, on one connection. */
  readonly ranges: { readonly count: number; readonly length: number; readonly size: number } | null
  /** Also answer the SHA-256 of what came; it costs the client time. */
  readonly hash: boolean
}

export interface DownloadsJob {
  readonly kind: 'downloads'
  /** A JSON file with addresses of one server, which are read whole, one after another on one connection. */
  readonly list: string
}

export interface ClientResult {
  readonly seconds: number
  readonly bytes: number
  /** Of files on Holdfast, or what other servers call them. */
  readonly slugs: readonly string[]
  readonly sha256: string | null
}

/** Runs the job in a process of its own, so that its CPU time and memory are not the server's. */
export async function runClient(job: ClientJob): Promise<ClientResult> {
  const client = Bun.spawn([process.execPath, `${import.meta.dir}/client.ts`, JSON.stringify(job)], {
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [out, problem] = await Promise.all([client.stdout.text(), client.stderr.text()])
  if ((await client.exited) !== 0) throw new Error(`the client failed: ${problem.trim().slice(0, 2000)}`)
  return JSON.parse(out)
}
