import type { BodyReader, PartSink } from './multipart.ts'

/** What a request says of the file that it brings. */
export interface AnnouncedFile {
  /** As sent: it is not yet fit for a file system. */
  readonly name: string
  readonly type: string | null
  /** What the file weighs at least and at most, as far as the request tells; a `most` of 0 says that nobody knows. */
  readonly size: { readonly least: number; readonly most: number }
  /** What a request for the same file declares each time; null where it declares no length. */
  readonly length: number | null
}

/** Called once, before the first byte of the file. Returns where the bytes go. */
export type Announce = (file: AnnouncedFile) => Promise<PartSink>

/** How a kind of request holds its file: as a form, or as the body itself. */
export interface UploadFormat {
  /** Tells the kinds apart: an Idempotency-Key is good for one of them. */
  readonly route: string
  /** What the file weighs at least when the body has so many bytes. */
  least(declared: number): number
  /** Reads the body to its end. Throws Refusal INVALID_REQUEST for a body that is malformed or has no file. */
  read(body: BodyReader, announce: Announce): Promise<void>
}
