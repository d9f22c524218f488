import type { BlobChunks } from '../blobs/blob-store.ts'
import { FileDamaged, readingFailure } from '../core/failures.ts'
import { timestamp } from '../domain/clock.ts'
import { isInlineSafe } from '../domain/safe-types.ts'
import type { FileDetailRow } from '../files/files.ts'
import { type SourceChunks, storedResponse } from '../server/answers/answers.ts'
import { partToSend } from '../server/answers/part-to-send.ts'
import type { Call } from '../server/call.ts'
import type { ByteClaims } from '../sharing/links/link-slots.ts'
import { type BytesSent, beginSending, isProbe } from './bytes-sent.ts'
import type { Content } from './content.ts'
import type { Presentation } from './content-tokens.ts'
import { contentDisposition } from './disposition.ts'

export interface Sending {
  readonly as: Presentation
  /** The store's address needs no other permission. */
  readonly mayRedirect: boolean
  /** Called when the first bytes are on their way; call the result when sending breaks off. */
  readonly began: () => () => void
  readonly claims: ByteClaims | null
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
