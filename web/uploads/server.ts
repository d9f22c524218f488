import { uploadMetadata } from '../../src/client/policy/upload-policy.ts'
import type { PresentUpload, StartedUpload } from '../../src/contract/uploads.ts'
import { wholeNumber } from '../../src/domain/ids.ts'
import { UPLOAD_STATUSES } from '../../src/domain/upload-terms.ts'
import { ownAccount } from '../shared/own-account.ts'
import { answerOf, RequestFailure } from './answers.ts'

/** The server's upload API: JSON and tus. Every function throws RequestFailure. */

const UPLOADS = '/api/v1/uploads'
const VERSION = { 'Tus-Resumable': '1.0.0' }
const SECRET = /^\/api\/v1\/uploads\/[0-9a-f]{32}$/

export interface Destination {
  readonly headers: Readonly<Record<string, string>>
  readonly link?: LinkDestination
  readonly transfer?: TransferDestination
}

interface TransferDestination {
  /** Makes the transfer before its first upload. Throws RequestFailure. */
  place(): Promise<TransferPlace>
}

export interface TransferPlace {
  readonly headers: Readonly<Record<string, string>>
  /** Null for a guest's, which the headers name. */
  readonly folder: string | null
}

interface LinkDestination {
  readonly slug: string
  answers(): Readonly<Record<string, string>>
}

export interface AnnouncedUpload {
  readonly name: string
  readonly type: string
  readonly size: number
  /** Milliseconds since 1970. */
  readonly lastModified: number
  /** `photos/2026/beach.jpg`; null for a single file. */
  readonly path: string | null
  /** Null for the top level, or where there are none. */
  readonly folder: string | null
}

export interface Created {
  /** Path of the upload, a secret that permits writing. */
  readonly address: string
  readonly link: string
  /** Begun in another browser or program: once gone, it cannot begin anew. */
  readonly isTakenOver?: true
  /** Guests only: permits deleting the file, also when it is complete. */
  readonly receipt?: string
}

export interface UploadOffset {
  readonly status: PresentUpload['status']
  /** Durable bytes. */
  readonly received: number
  readonly link: string
}

export interface BytesBefore {
  readonly length: number
  /** Hexadecimal. */
  readonly sha256: string
}

export async function announceUpload(to: Destination, upload: AnnouncedUpload): Promise<Created> {
  const place = (await to.transfer?.place()) ?? { headers: {}, folder: upload.folder }
  const metadata = {
    filename: upload.name,
    filetype: upload.type,
    // Lets another browser recognize the file.
    lastModified: String(upload.lastModified),
    ...(place.folder === null ? {} : { folder: place.folder }),
    ...(upload.path === null ? {} : { relativePath: upload.path }),
    ...to.link?.answers(),
  }
  const { body, headers } = await ask(
    to.link === undefined ? UPLOADS : `/api/v1/links/${to.link.slug}/uploads`,
    {
      method: 'POST',
      headers: {
        ...to.headers,
        ...place.headers,
        ...VERSION,
        'Upload-Length': String(upload.size),
        'Upload-Metadata': uploadMetadata(metadata),
      },
    },
  )
  const address = addressIn(body)
  const receipt = headers.get('holdfast-receipt')
  return { address, link: linkOf(to, address, body), ...(receipt === null ? {} : { receipt }) }
}

export async function fetchUpload(to: Destination, address: string): Promise<UploadOffset> {
  const { body } = await ask(address, { headers: to.headers, cache: 'no-store' })
  const status = UPLOAD_STATUSES.find((known) => known === body.status)
  if (status === undefined) throw new RequestFailure(null)
  return { status, received: number(body, 'received'), link: linkOf(to, address, body) }
}

function linkOf({ link }: Destination, address: string, body: Said['body']): string {
  return link === undefined ? text(body, 'url') : `${location.origin}/l/${link.slug}#${address.slice(-32)}`
}

/** Where the bytes of a file go. */
export interface Piece {
  readonly address: string
  /** Bytes from the file's start. */
  readonly from: number
  readonly length: number
  /** Durable bytes. */
  readonly offset: number
  readonly before: BytesBefore | null
}

/**
 * In order; several for an upload that the command line began as partial ones. `compares`: also requests the bytes
 * before the offset.
 */
export async function fetchPieces(
  to: Destination,
  address: string,
  size: number,
  compares: boolean,
): Promise<readonly Piece[]> {
  const headers = await askWithoutBody(to, address, compares)
  const partial = pathsOfPartial(headers)
  if (partial === null || headers.has('upload-offset')) {
    return [{ address, from: 0, length: size, ...reachedIn(headers) }]
  }
  let from = 0
  return (await Promise.all(partial.map((each) => askWithoutBody(to, each, compares)))).map((each, at) => {
    const length = numberOf(each, 'upload-length')
    const piece = { address: partial[at] ?? address, from, length, ...reachedIn(each) }
    from += length
    return piece
  })
}

function reachedIn(headers: Headers): Pick<Piece, 'offset' | 'before'> {
  return { offset: numberOf(headers, 'upload-offset'), before: beforeOf(headers) }
}

function pathsOfPartial(headers: Headers): string[] | null {
  const [, named = null] = /^final;(.+)$/.exec(headers.get('upload-concat') ?? '') ?? []
  const addresses = named?.trim().split(/ +/) ?? null
  return addresses?.map((each) => each.slice(each.indexOf(`${UPLOADS}/`))) ?? null
}

/** Most bytes that the server compares. */
const COMPARED = { 'Holdfast-Before': String(64 * 1024) }

async function askWithoutBody(to: Destination, address: string, compares = false): Promise<Headers> {
  const headers = { ...to.headers, ...VERSION, ...(compares ? COMPARED : {}) }
  return (await ask(address, { method: 'HEAD', headers, cache: 'no-store' })).headers
}

function beforeOf(headers: Headers): BytesBefore | null {
  const [, length, sha256] = /^(\d+) ([0-9a-f]{64})$/.exec(headers.get('holdfast-before') ?? '') ?? []
  return length === undefined || sha256 === undefined ? null : { length: Number(length), sha256 }
}

function numberOf(headers: Headers, name: string): number {
  const said = wholeNumber(headers.get(name))
  if (said === null) throw new RequestFailure(null)
  return said
}

/** With a receipt also deletes a file that was just completed. Works while the page closes. */
export async function withdrawUpload(
  to: Destination,
  { address, receipt }: Pick<Created, 'address' | 'receipt'>,
): Promise<void> {
  if (receipt !== undefined) await deleteWithReceipt(receipt)
  else await ask(address, { method: 'DELETE', headers: { ...to.headers, ...VERSION }, keepalive: true })
}

/** Deletes for good. A missing file counts as deleted. */
export async function deleteWithReceipt(receipt: string): Promise<void> {
  try {
    await ask(`/api/v1/receipt/${encodeURIComponent(receipt)}`, { method: 'DELETE', keepalive: true })
  } catch (error) {
    // Files of an ended link stay.
    const isGone = error instanceof RequestFailure && error.answer?.code === 'NOT_FOUND'
    if (!isGone) throw error
  }
}

/** Moves a guest's upload into the session's account; does nothing for a missing one. */
export async function claimWithReceipt(receipt: string): Promise<void> {
  try {
    await ask(`/api/v1/receipt/${encodeURIComponent(receipt)}/claim`, {
      method: 'POST',
      headers: { ...ownAccount(), 'Content-Type': 'application/json' },
      body: '{}',
    })
  } catch (error) {
    const isGone = error instanceof RequestFailure && error.answer?.code === 'NOT_FOUND'
    if (!isGone) throw error
  }
}

/** Whether the receipt's file is gone or claimed. False while the server is unreachable. */
export async function isReceiptGone(receipt: string): Promise<boolean> {
  try {
    await ask(`/api/v1/receipt/${encodeURIComponent(receipt)}`, { cache: 'no-store' })
    return false
  } catch (error) {
    return error instanceof RequestFailure && error.answer?.code === 'NOT_FOUND'
  }
}

/** Milliseconds of the longest wait for an answer without a file. */
const QUIET = 30_000

interface Said {
  readonly body: Readonly<Record<string, unknown>>
  readonly headers: Headers
}

export async function ask(path: string, request: RequestInit): Promise<Said> {
  const response = await fetch(path, { ...request, signal: AbortSignal.timeout(QUIET) }).catch(() => {
    throw new RequestFailure(null)
  })
  const said = await response.text().catch(() => {
    throw new RequestFailure(null)
  })
  if (!response.ok)
    throw new RequestFailure(answerOf(response.status, said, response.headers.get('retry-after')))
  return { body: said === '' ? {} : parsed(said), headers: response.headers }
}

/** A page by a captive portal is no answer. */
function parsed(said: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(said)
    if (typeof value === 'object' && value !== null) return { ...value }
  } catch {}
  throw new RequestFailure(null)
}

function addressIn(body: Said['body']): string {
  const address = text(body, 'location')
  if (!SECRET.test(address)) throw new RequestFailure(null)
  return address
}

function text(body: Readonly<Record<string, unknown>>, key: keyof StartedUpload): string {
  const value = body[key]
  if (typeof value !== 'string') throw new RequestFailure(null)
  return value
}

function number(body: Readonly<Record<string, unknown>>, key: keyof PresentUpload): number {
  const value = body[key]
  if (typeof value !== 'number') throw new RequestFailure(null)
  return value
}
