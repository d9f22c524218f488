/** Fragments of files that upload scripts send as forms would be stored as whole files. */
import { Refusal } from '../domain/errors.ts'

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
