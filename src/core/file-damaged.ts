import { isLost } from '../blobs/blob-store.ts'
import { Refusal } from '../domain/errors.ts'
import type { FileId, Slug } from '../domain/ids.ts'

/** Bytes of a file are lost, wholly or in part, although its row exists. */
export class FileDamaged extends Refusal {
  readonly file: { readonly id: FileId; readonly slug: Slug }

  /** `retryAfter`: seconds until a second copy may have restored them. */
  constructor({ id, slug }: FileDamaged['file'], cause: unknown, retryAfter?: number) {
    const then =
      retryAfter === undefined
        ? 'its administrators find out more in the log'
        : 'they are being brought back from a second copy, so try again in a minute'
    super('FILE_DAMAGED', `The server has lost bytes of this file; ${then}`, retryAfter, { cause })
    this.file = { id, slug }
  }
}

/** Other errors are returned unchanged. */
export function readingFailure(file: FileDamaged['file'], error: unknown): unknown {
  return isLost(error) ? new FileDamaged(file, error) : error
}
