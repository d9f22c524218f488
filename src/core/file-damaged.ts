import { isLost } from '../blobs/blob-store.ts'
import { Refusal } from '../domain/errors.ts'
import type { FileId, Slug } from '../domain/ids.ts'

/** Bytes of a file are lost, all or some of them, although its row exists. */
export class FileDamaged extends Refusal {
  /** Identifies the file in the log. */
  readonly file: { readonly id: FileId; readonly slug: Slug }

  /** `retryAfter`: seconds until they may be back, where they are being brought back from a second copy. */
  constructor({ id, slug }: FileDamaged['file'], cause: unknown, retryAfter?: number) {
    const then =
      retryAfter === undefined
        ? 'its administrators find out more in the log'
        : 'they are being brought back from a second copy, so try again in a minute'
    super('FILE_DAMAGED', `The server has lost bytes of this file; ${then}`, retryAfter, { cause })
    this.file = { id, slug }
  }
}

/** Wraps the loss of bytes as FileDamaged; any other error comes back unchanged. */
export function readingFailure(file: FileDamaged['file'], error: unknown): unknown {
  return isLost(error) ? new FileDamaged(file, error) : error
}
