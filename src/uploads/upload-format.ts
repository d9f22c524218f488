import { Refusal } from '../domain/errors.ts'
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

/** Called before the file's first byte; once, unless the format is of several files. */
export type Announce = (file: AnnouncedFile) => Promise<PartSink>

export interface UploadFormat {
  /** An Idempotency-Key applies to one route. */
  readonly route: string
  least(declared: number): number
  /** Throws Refusal INVALID_REQUEST for a body that is malformed or has no file. */
  read(body: BodyReader, announce: Announce): Promise<void>
}

// Fragments of files that upload scripts send as forms would be stored as whole files.

/** Of Dropzone, plupload, Resumable.js, Flow.js and Fine Uploader. */
export const FRAGMENT_COUNTS: readonly string[] = [
  'dztotalchunkcount',
  'chunks',
  'resumableTotalChunks',
  'flowTotalChunks',
  'qqtotalparts',
]

/** Throws Refusal INVALID_REQUEST unless Content-Range is absent or of a whole file (RFC 9110, section 14.4). */
export function assertWhole(request: Request): void {
  const range = request.headers.get('content-range')
  if (range === null) return
  const [, last, total] = /^bytes 0-(\d{1,15})\/(\d{1,15})$/i.exec(range.trim()) ?? []
  if (last === undefined || Number(last) + 1 !== Number(total)) throw fragment('Content-Range')
}

/** Throws Refusal INVALID_REQUEST. */
export function assertOnePiece(field: string, count: string): void {
  if (/^0*[1-9]/.test(count.trim()) && !/^0*1(?!\d)/.test(count.trim())) throw fragment(`"${field}"`)
}

function fragment(sign: string): Refusal {
  return new Refusal(
    'INVALID_REQUEST',
    `${sign} says that this is a piece of a file. Send the file in one request, or in pieces by tus to /api/v1/uploads`,
  )
}
