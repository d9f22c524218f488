import type { Caller } from '../../core/callers.ts'
import { type Holder, type Holding, holderOf, type SharedCeiling, Shares } from '../../core/shares.ts'
import { type CancelTimer, type Clock, repeat, SECOND } from '../../domain/clock.ts'
import { Refusal } from '../../domain/errors.ts'
import { wholeNumber } from '../../domain/ids.ts'
import { formatSize } from '../../domain/sizes.ts'

export interface BodyCall {
  readonly request: Request
  readonly bucket: string
  readonly caller: Caller | null
  readonly bodyLimit: number
  readonly headers: Map<string, string>
  readonly site: { readonly smallBodies: SmallBodies }
}

const read = new WeakMap<Request, number>()

/** Actual bytes, not Content-Length. */
export function bytesRead(request: Request): number {
  return read.get(request) ?? 0
}

/**
 * Throws Refusal INVALID_REQUEST; PAYLOAD_TOO_LARGE over `bodyLimit`; REQUEST_TIMEOUT for a slow sender; RATE_LIMITED
 * or SERVER_BUSY at the ceiling of the address or of all.
 */
export async function readJsonBody(call: BodyCall): Promise<unknown> {
  const bytes = await readBytes(call)
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch {
    throw new Refusal('INVALID_REQUEST', 'The body must be JSON in UTF-8')
  }
}

export async function readForm(call: BodyCall): Promise<URLSearchParams> {
  return new URLSearchParams(new TextDecoder().decode(await readBytes(call)))
}

/** `multipart/form-data` in memory: for small files, which are copied. Throws like `readJsonBody`. */
export async function readFormData(call: BodyCall) {
  const type = call.request.headers.get('content-type') ?? ''
  const bytes = await readBytes(call)
  try {
    return await new Response(bytes, { headers: { 'Content-Type': type } }).formData()
  } catch {
    throw new Refusal('INVALID_REQUEST', 'The body must be multipart/form-data')
  }
}

/** Bodies are stored as sent, coding included. Throws Refusal INVALID_REQUEST for a Content-Encoding. */
export function assertUncoded(headers: Headers): void {
  if (!/^(?:identity)?$/i.test(headers.get('content-encoding') ?? ''))
    throw coded(headers, 'Content-Encoding')
}

/** Refuses (INVALID_REQUEST) what a proxy could delimit otherwise: length, Transfer-Encoding (RFC 9112 §6.3). */
export function assertOneEnd(headers: Headers): void {
  contentLength(headers)
  if (!/^chunked$/i.test(headers.get('transfer-encoding') ?? 'chunked'))
    throw coded(headers, 'Transfer-Encoding')
}

function coded(headers: Headers, name: string): Refusal {
  return new Refusal('INVALID_REQUEST', `Send the body without "${name}: ${headers.get(name)}"`)
}

/** A declared body may be empty. */
export function declaresBody(headers: Headers): boolean {
  return headers.has('content-length') || headers.has('transfer-encoding')
}

/** Throws Refusal INVALID_REQUEST unless one number: a proxy may have read a repeated one otherwise (RFC 9112 §6.3). */
export function contentLength(headers: Headers): number | null {
  const text = headers.get('content-length')
  const length = wholeNumber(text)
  if (text === null || length !== null) return length
  throw new Refusal('INVALID_REQUEST', 'Content-Length must be one whole number')
}

async function readBytes(call: BodyCall): Promise<Uint8Array<ArrayBuffer>> {
  const { request, headers, site, bodyLimit: most } = call
  const tooLarge = () =>
    new Refusal('PAYLOAD_TOO_LARGE', `The body may have ${formatSize(most)} at most here`)
  if ((contentLength(request.headers) ?? 0) > most) throw tooLarge()
  if (request.body === null) return new Uint8Array()
  const chunks: Uint8Array[] = []
  let length = 0
  let reading: SmallBody | null = null
  try {
    reading = site.smallBodies.begin(request.body, holderOf(call))
    for (;;) {
      const chunk = await reading.next()
      if (chunk === null) return Buffer.concat(chunks)
      length += chunk.byteLength
      read.set(request, length)
      if (length > most) throw tooLarge()
      chunks.push(chunk)
    }
  } catch (error) {
    // The unread rest must not be parsed as a request.
    headers.set('Connection', 'close')
    throw error
  } finally {
    reading?.end()
  }
}

export type SmallBodies = ReturnType<typeof createSmallBodies>
export type SmallBody = ReturnType<SmallBodies['begin']>

/** Time limit: this and a second per so many bytes: 31 s for 16 KiB, 94 s for a megabyte. */
const GRACE = 30 * SECOND
const LEAST_PER_SECOND = 16 * 1024
const CHECK_EVERY = SECOND

const MB = 1024 * 1024

/** In this process. One address has room for all bodies of 64 KiB, or sixteen of 1 MiB. */
export const SMALL_BODIES: SharedCeiling = {
  all: { holders: 4096, size: 128 * MB },
  each: { holders: 256, size: 16 * MB },
  kept: 1 / 4,
  idleAfter: 5 * SECOND,
}

interface UnderWay {
  readonly began: number
  received: number
  stop(why: Refusal): void
}

/** Limits for bodies in memory (forms and JSON): minimum speed; numbers and bytes per address and in all. */
export function createSmallBodies(clock: Clock, ceiling = SMALL_BODIES) {
  const shares = new Shares(clock, ceiling)
  const underWay = new Set<UnderWay>()
  let stopLooking: CancelTimer | null = null

  function look(): void {
    const now = clock.monotonic()
    for (const body of underWay) {
      if (now - body.began <= GRACE + (body.received / LEAST_PER_SECOND) * SECOND) continue
      body.stop(new Refusal('REQUEST_TIMEOUT', 'The request came too slowly; send it again'))
    }
  }

  function enter(body: UnderWay): void {
    underWay.add(body)
    stopLooking ??= repeat(clock.timers, CHECK_EVERY, look)
  }

  function leave(body: UnderWay, holding: Holding): void {
    if (!underWay.delete(body)) return
    holding.end()
    if (underWay.size > 0 || stopLooking === null) return
    stopLooking()
    stopLooking = null
  }

  return {
    begin(source: ReadableStream<Uint8Array>, holder: Holder) {
      let stopped: Refusal | null = null
      let isOver = false
      const body: UnderWay = {
        began: clock.monotonic(),
        received: 0,
        stop(why) {
          stopped ??= why
          // Ends a pending read like the end of the body.
          letGo(reader)
        },
      }
      const holding = shares.begin(holder, 0, () => body.stop(yielded()))
      enter(body)
      const reader = source.getReader()
      return {
        /** Throws Refusal REQUEST_TIMEOUT for a slow sender, SERVER_BUSY when it must yield, and like `begin`. */
        async next(): Promise<Uint8Array | null> {
          const { done, value } = await reader.read()
          if (stopped !== null) throw stopped
          isOver = done
          const bytes = value?.byteLength ?? 0
          holding.grow(bytes)
          body.received += bytes
          return value ?? null
        },
        /** Must be called after the last read. Cancels an unread rest. */
        end(): void {
          leave(body, holding)
          if (!isOver) letGo(reader)
        },
      }
    },
  }
}

/** Seconds. */
const RETRY = 5

function yielded(): Refusal {
  return new Refusal(
    'SERVER_BUSY',
    'The request came so slowly that others took its place; try again soon',
    RETRY,
  )
}

function letGo(reader: ReadableStreamGenericReader): void {
  reader.cancel().catch(() => {})
}
