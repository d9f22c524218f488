import { unlessAborted } from '../domain/abort.ts'
import { wholeNumber } from '../domain/ids.ts'
import { ClientError } from './failure.ts'
import { asConnectionErrors, clientRefusal, toldAddress } from './http.ts'

export interface ContentAddress {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
}

export interface RemoteContent extends ContentAddress {
  readonly size: number
  readonly etag: string | null
  readonly sha256: string | null
  readonly name: string | null
}

export async function describeContent({ url, headers }: ContentAddress): Promise<RemoteContent> {
  const { origin } = new URL(url)
  const response = await asConnectionErrors(origin, () =>
    fetch(toldAddress(url), {
      method: 'HEAD',
      redirect: 'manual',
      headers: { ...headers, 'Accept-Encoding': 'identity' },
    }),
  )
  if (!response.ok) throw await clientRefusal(response, origin)
  const size = wholeNumber(response.headers.get('content-length'))
  if (size === null) throw new ClientError(`${origin} does not say how large the file is.`)
  const digest = /sha-256=:([A-Za-z0-9+/=]+):/.exec(response.headers.get('repr-digest') ?? '')?.[1]
  return {
    url,
    headers,
    size,
    etag: response.headers.get('etag'),
    sha256: digest === undefined ? null : Buffer.from(digest, 'base64').toString('hex'),
    name: dispositionName(response.headers.get('content-disposition')),
  }
}

/** A store behind a redirect does not know our validators; the content is verified anyway. */
export async function openContent(
  { url, headers, etag }: RemoteContent,
  from: number,
  signal: AbortSignal,
): Promise<Response> {
  const range: Record<string, string> = from === 0 ? {} : { Range: `bytes=${from}-` }
  const condition: Record<string, string> = from === 0 || etag === null ? {} : { 'If-Range': etag }
  const options = { redirect: 'manual', signal } as const
  const encoding = { 'Accept-Encoding': 'identity' }
  const { origin } = new URL(url)
  const first = await asConnectionErrors(origin, () =>
    unlessAborted(
      signal,
      fetch(toldAddress(url), { ...options, headers: { ...headers, ...range, ...condition, ...encoding } }),
    ),
  )
  const location = first.headers.get('location')
  const response =
    first.status === 302 && location !== null
      ? await asConnectionErrors(origin, () =>
          unlessAborted(
            signal,
            fetch(toldAddress(location, url), { ...options, headers: { ...range, ...encoding } }),
          ),
        )
      : first
  if (response.status === 200 || response.status === 206) return response
  throw await clientRefusal(response, origin)
}

export function continues(response: Response, position: number): boolean {
  const start = /^bytes (\d+)-/.exec(response.headers.get('content-range') ?? '')?.[1]
  return response.status === 206 && wholeNumber(start) === position
}

/** From Content-Disposition (RFC 6266). */
export function dispositionName(header: string | null): string | null {
  if (header === null) return null
  const encoded = /filename\*=UTF-8''([^;\s]+)/i.exec(header)?.[1]
  try {
    if (encoded !== undefined) return decodeURIComponent(encoded)
  } catch {
    // Malformed: the plain name is used instead.
  }
  return /filename="([^"]*)"/i.exec(header)?.[1] ?? null
}
