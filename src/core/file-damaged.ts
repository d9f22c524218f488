import { isLost } from '../blobs/blob-store.ts'
import type { Damage } from '../database/schema.ts'
import { Refusal } from '../domain/errors.ts'
import type { FileId, Slug } from '../domain/ids.ts'

/** Bytes of a file are lost, all or some of them, although its row exists. */
export class FileDamaged extends Refusal {
  /** Identifies the file in the log. */
  readonly file: { readonly id: FileId; readonly slug: Slug }

  constructor({ id, slug }: FileDamaged['file'], cause: unknown) {
    const message = 'The server has lost bytes of this file; its administrators find out more in the log'
    super('FILE_DAMAGED', message, undefined, { cause })
    this.file = { id, slug }
  }
}

/** Throws FileDamaged for a file whose content is marked as damaged. */
export function assertSound(file: FileDamaged['file'] & { readonly damage: Damage | null }): void {
  if (file.damage === null) return
  throw new FileDamaged(file, new Error(`a check found its content damaged: ${file.damage}`))
}

/** Wraps the loss of bytes as FileDamaged; any other error comes back unchanged. */
export function readingFailure(file: FileDamaged['file'], error: unknown): unknown {
  return isLost(error) ? new FileDamaged(file, error) : error
}
