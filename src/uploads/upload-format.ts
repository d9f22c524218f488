import type { BodyReader, PartSink } from './multipart.ts'

export interface AnnouncedFile {
  /** As sent, not yet fit for a file system. */
  readonly name: string
  readonly type: string | null
  /** Bounds in bytes; a `most` of 0 means unknown. */
  readonly size: { readonly least: number; readonly most: number }
  /** Equal in every repetition of the request; null where no length is declared. */
  readonly length: number | null
}

/** Called once, before the file's first byte. */
export type Announce = (file: AnnouncedFile) => Promise<PartSink>

export interface UploadFormat {
  /** An Idempotency-Key applies to one route. */
  readonly route: string
  least(declared: number): number
  /** Throws Refusal INVALID_REQUEST for a body that is malformed or has no file. */
  read(body: BodyReader, announce: Announce): Promise<void>
}
