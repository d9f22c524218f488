import { isLost } from '../blobs/blob-store.ts'
import { Refusal } from '../domain/errors.ts'
import type { FileId, Slug } from '../domain/ids.ts'

/** Bytes of a file are gone, all or some of them, although its row is there. */
export class FileDamaged extends Refusal {
  /** For the log. */
  readonly file: { readonly id: FileId; readonly slug: Slug }

  constructor({ id, slug }: FileDamaged['file'], cause: unknown) {
    const message = 'The server has lost bytes of this file; its administrators find out more in the log'
    super('FILE_DAMAGED', message, undefined, { cause })
    this.file = { id, slug }
  }
}

/** What a failure to read the bytes of the file is to those who want them. */
export function readingFailure(file: FileDamaged['file'], error: unknown): unknown {
  return isLost(error) ? new FileDamaged(file, error) : error
}
