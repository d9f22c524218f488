import anyAscii from 'any-ascii'
import type { BlobChunks } from '../blobs/blob-store.ts'
import { FileDamaged, readingFailure } from '../core/failures.ts'
import { timestamp } from '../domain/clock.ts'
import { shortName } from '../domain/file-name.ts'
import { isInlineSafe } from '../domain/safe-types.ts'
import type { FileDetailRow } from '../files/files.ts'
import { type SourceChunks, storedResponse } from '../server/answers/answers.ts'
import { partToSend } from '../server/answers/part-to-send.ts'
import type { Call } from '../server/call.ts'
import type { ByteSlots, PromisedBytes } from '../sharing/links/link-slots.ts'
import type { Content } from './content.ts'
import type { Presentation } from './content-tokens.ts'

export interface Sending {
  readonly as: Presentation
  /** The store's address needs no other permission. */
  readonly mayRedirect: boolean
  /** Called when the first bytes are on their way; call the result when sending breaks off. */
  readonly began: () => () => void
  readonly claims: ByteSlots | null
}

/** Conditions, then ranges (RFC 9110). Throws FileDamaged for a content marked as damaged, also for headers alone. */
export async function sendFile(
  call: Call,
  content: Content,
  file: FileDetailRow,
  sending: Sending,
): Promise<Response> {
  await content.assertSound(file)
  const validators = { etag: `"${file.sha256}"`, lastModified: file.created_at }
  const headers = contentHeaders(file, sending, validators, await mediaTypeOf(content, file, sending))
  const part = partToSend(call, file.size, validators, headers)
  if (part instanceof Response) return part
  const { status, start, end } = part
  const counts = start === 0 && !isProbe({ end, whole: file.size })
  const link = sending.mayRedirect
    ? await content.link(file, {
        type: headers.get('Content-Type') ?? file.type,
        disposition: headers.get('Content-Disposition') ?? 'attachment',
      })
    : null
  if (link !== null) {
    if (counts) sending.began()
    return new Response(null, {
      status: 302,
      headers: { Location: link, 'Cache-Control': 'private, no-store' },
    })
  }
  const sent = await beginSending(sending.claims, { start, end, whole: file.size })
  const body = end > start ? await readOrEnd(() => content.read(file, start, end), sent) : null
  const takeBack = counts ? sending.began() : () => {}
  const failed = (error: unknown) => {
    takeBack()
    content.failed(file, error)
    call.site.report(new FileDamaged(file, error), call.id)
  }
  if (body === null) {
    sent.over()
    return new Response(null, { status, headers })
  }
  const isWhole = start === 0 && end === file.size
  const source = watched(body, file, failed)
  const chunks = isWhole ? content.verified(file, source, failed) : source
  return storedResponse(counted(chunks, sent), { status, headers })
}

async function readOrEnd<T>(read: () => Promise<T>, sent: BytesSent): Promise<T> {
  try {
    return await read()
  } catch (error) {
    sent.over()
    throw error
  }
}

/** Such a failure also fails the answer. */
function watched(chunks: BlobChunks, file: FileDetailRow, failed: (error: unknown) => void): SourceChunks {
  return {
    next: () =>
      chunks.next().catch((error: unknown) => {
        failed(error)
        throw readingFailure(file, error)
      }),
    cancel: () => chunks.cancel(),
    release: () => chunks.release(),
  }
}

function counted(chunks: SourceChunks, sent: BytesSent): SourceChunks {
  return {
    async next() {
      try {
        const chunk = await chunks.next()
        if (chunk === null) sent.over()
        else sent.add(chunk.length)
        return chunk
      } catch (error) {
        sent.over()
        throw error
      }
    },
    cancel() {
      sent.over()
      chunks.cancel()
    },
    release: () => chunks.release(),
  }
}

function shownTypeOf({ type }: FileDetailRow, { as }: Sending): string {
  return as === 'raw' ? 'text/plain' : type
}

async function mediaTypeOf(content: Content, file: FileDetailRow, sending: Sending): Promise<string> {
  const type = shownTypeOf(file, sending)
  const charset = type === 'text/plain' ? await content.charset(file) : null
  return charset === null ? type : `${type}; charset=${charset}`
}

function contentHeaders(
  file: FileDetailRow,
  sending: Sending,
  validators: { readonly etag: string; readonly lastModified: number },
  type: string,
): Headers {
  const shownType = shownTypeOf(file, sending)
  const disposition = sending.as !== 'download' && isInlineSafe(shownType) ? 'inline' : 'attachment'
  return new Headers({
    'Content-Type': type,
    'Content-Disposition': contentDisposition(disposition, file.name),
    'Accept-Ranges': 'bytes',
    ETag: validators.etag,
    'Last-Modified': new Date(timestamp(validators.lastModified)).toUTCString(),
    'Repr-Digest': `sha-256=:${Buffer.from(file.sha256, 'hex').toString('base64')}:`,
    'Cache-Control': 'private, max-age=0, must-revalidate',
    'Content-Security-Policy': "sandbox; default-src 'none'",
    'Cross-Origin-Resource-Policy': 'cross-origin',
  })
}

export interface BytesSent {
  add(bytes: number): void
  /** May be called more than once. */
  over(): void
}

const UNCOUNTED: BytesSent = { add() {}, over() {} }

/** Clients probe for range support within the first two bytes of a longer content: neither view nor download. */
export function isProbe({ end, whole }: Pick<PromisedBytes, 'end' | 'whole'>): boolean {
  return end <= 2 && end < whole
}

/** Counts a download before the first byte, unless it is a probe. Throws Refusal LINK_USED_UP. */
export async function beginSending(claims: ByteSlots | null, promised: PromisedBytes): Promise<BytesSent> {
  if (claims === null || isProbe(promised)) return UNCOUNTED
  const claim = await claims.begin(promised)
  let left = promised.end - promised.start
  let isOver = false
  return {
    add(more) {
      left -= more
    },
    over() {
      if (isOver) return
      isOver = true
      claim.end(left)
    },
  }
}

/**
 * RFC 6266. `filename` is ASCII with doubtful characters replaced, because clients disagree on escapes, and has at most
 * 255 bytes, because curl saves under it. `filename*` (RFC 8187) is added where that loses something, and for a percent
 * sign, which some browsers decode without it.
 */
export function contentDisposition(kind: 'inline' | 'attachment', name: string): string {
  const ascii = shortName(toAscii(name))
  const plain = `${kind}; filename="${ascii}"`
  return ascii === name && !name.includes('%') ? plain : `${plain}; filename*=UTF-8''${toExtValue(name)}`
}

/** For clients that ignore `filename*`. */
function toAscii(name: string): string {
  const ascii = name
    .normalize('NFC')
    .replace(/[^\x20-\x7E]+/g, (other) => anyAscii(other).replace(/[^\x20-\x7E]|:/g, '_'))
    .replace(/["\\/]/g, '_')
  return /^\.{0,2}$/.test(ascii) ? '_' : ascii
}

/** Leaves RFC 8187's attr-char alone. */
function toExtValue(name: string): string {
  return encodeURIComponent(name.toWellFormed()).replace(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  )
}
