import { backoff } from '../../src/client/policy/upload-policy.ts'
import { RequestFailure } from './answers.ts'
import { isUnchanged } from './file-changes.ts'
import type { KeptUpload } from './kept-uploads.ts'
import type { Line } from './line.ts'
import type { Destination } from './server.ts'
import { type TransferContext, type TransferListener, UploadOver } from './transfer-context.ts'
import { classifyFailure } from './verdict.ts'

interface TryOptions {
  readonly signal: AbortSignal
  readonly waiting: TransferListener['waiting']
}

export class RequestRetries {
  readonly #way: TransferContext
  readonly #id: string

  constructor(way: TransferContext, id: string) {
    this.#way = way
    this.#id = id
  }

  /** Null when aborted, `anew` when the server does not know the upload any more. Throws UploadOver. */
  async persist<T>(line: Line, ask: () => Promise<T>, options: TryOptions): Promise<T | 'anew' | null> {
    const { signal } = options
    for (let failures = 0; ; failures += 1) {
      await line.open(signal)
      if (signal.aborted) return null
      try {
        const answer = await ask()
        line.works()
        return answer
      } catch (error) {
        if (!(error instanceof RequestFailure)) throw error
        if (signal.aborted) return null
        if ((await this.#settle(line, error, failures, options)) === 'anew') return 'anew'
      }
    }
  }

  async #settle(
    line: Line,
    { answer }: RequestFailure,
    failures: number,
    { signal, waiting }: TryOptions,
  ): Promise<'again' | 'anew'> {
    if (answer === null) await assertUnchanged(this.#kept())
    const verdict = classifyFailure(answer, {
      limit: this.#way.limit,
      isOnline: navigator.onLine,
      by: whatTakes(this.#way.to),
    })
    switch (verdict.kind) {
      case 'anew':
        return 'anew'
      case 'over':
        throw new UploadOver(verdict.problem)
      case 'smaller':
        if (!this.#sendsLess()) throw new UploadOver({ kind: 'proxy' })
        return 'again'
      case 'again':
        if (answer?.status === 409 || answer?.status === 423) {
          // This upload alone is locked: an earlier connection has not been closed yet.
          const asked = (verdict.seconds ?? 0) * 1000
          await delay(Math.max(asked, backoff(failures, Math.random())), signal)
        } else {
          waiting(verdict.reason, line.failed(verdict.seconds))
        }
        return 'again'
    }
  }

  /** After a body was refused as too large; false when smaller ones are no use. */
  #sendsLess(): boolean {
    const { chunks } = this.#way
    const upload = this.#kept()
    return upload === null || chunks.refused(Math.min(chunks.current(), upload.size))
  }

  #kept(): KeptUpload | null {
    return this.#way.kept.find(this.#id)
  }
}

/** An unreadable file looks like a network failure. Throws UploadOver. */
async function assertUnchanged(upload: KeptUpload | null): Promise<void> {
  if (upload === null || upload.file === null) return
  const { file, handle } = upload
  if (!(await isUnchanged({ file, handle }))) throw new UploadOver({ kind: 'changed' })
}

function whatTakes({ link, transfer }: Destination): 'upload link' | 'transfer' | null {
  if (link !== undefined) return 'upload link'
  return transfer === undefined ? null : 'transfer'
}

/** Ends early when `signal` is aborted. */
export function delay(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', end)
      resolve()
    }
    const timer = setTimeout(end, milliseconds)
    signal.addEventListener('abort', end)
  })
}
