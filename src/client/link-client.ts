import { AnswerError, ClientError, isAnswer } from './failure.ts'
import { asConnectionErrors, clientRefusal, type RemoteServer, toldAddress } from './http.ts'
import { TRANSFER } from './policy/upload-policy.ts'
import type { Password } from './public-client.ts'
import type { ContentAddress } from './remote-content.ts'
import type { Retries } from './retries.ts'

export interface LinkClient {
  address(): Promise<ContentAddress>
}

/** Cookies make all requests one visitor's. */
export function createLinkClient(
  server: RemoteServer,
  slug: string,
  retries: Retries,
  password: Password,
): LinkClient {
  const page = `${server.url}/l/${slug}`
  const cookies = new Map<string, string>()

  function headers(): Record<string, string> {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    return {
      ...(server.key === null ? {} : { Authorization: `Bearer ${server.key}` }),
      ...(cookie === '' ? {} : { Cookie: cookie }),
    }
  }

  async function ask(url: string, init: RequestInit): Promise<Response> {
    const response = await asConnectionErrors(server.url, () =>
      fetch(toldAddress(url), { ...init, headers: headers(), redirect: 'manual' }),
    )
    for (const text of response.headers.getSetCookie()) {
      const [, name, value] = /^([^=;]+)=([^;]*)/.exec(text) ?? []
      if (name !== undefined && value !== undefined) cookies.set(name, value)
    }
    return response
  }

  async function led(method: 'GET' | 'HEAD', query: string): Promise<string | null> {
    const response = await ask(`${page}?${query}`, { method })
    const location = response.headers.get('location')
    if (response.status === 302 && location !== null) return new URL(location, server.url).href
    if (response.ok) {
      await response.body?.cancel()
      return null
    }
    // The refusal of a HEAD has no body with a reason.
    if (method === 'HEAD' && response.status === 403)
      throw new AnswerError('', 403, 'PASSWORD_REQUIRED', null)
    throw await clientRefusal(response, server.url)
  }

  async function unlock(): Promise<void> {
    const given = await password()
    const response = await retries.persist(TRANSFER, () =>
      ask(page, { method: 'POST', body: new URLSearchParams({ password: given }) }),
    )
    if (response.status === 303) return
    if (response.status === 200) throw new ClientError('the password is wrong.')
    throw await clientRefusal(response, server.url)
  }

  async function opened<T>(attempt: () => Promise<T>): Promise<T> {
    try {
      return await attempt()
    } catch (error) {
      if (!isAnswer(error, 403, 'PASSWORD_REQUIRED')) throw error
    }
    await unlock()
    return attempt()
  }

  return {
    address: () =>
      opened(async () => {
        const file = await led('GET', 'download=1')
        if (file !== null) return { url: file, headers: {} }
        const archive = await led('HEAD', 'download=zip')
        return archive === null
          ? { url: `${page}?download=zip`, headers: headers() }
          : { url: archive, headers: {} }
      }),
  }
}

export type Link =
  | { readonly kind: 'file'; readonly server: string; readonly slug: string }
  | { readonly kind: 'folder'; readonly server: string; readonly identifier: string }
  | { readonly kind: 'link'; readonly server: string; readonly slug: string }
  | { readonly kind: 'bytes'; readonly url: string }

/** Throws ClientError. */
export function parseLink(text: string): Link {
  const url = URL.parse(text)
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw new ClientError(`"${text}" is not the address of a file or a folder.`)
  }
  const [, page, name = ''] = /^\/([df])\/([A-Za-z0-9]+)\/?$/.exec(url.pathname) ?? []
  if (page === 'd') return { kind: 'file', server: url.origin, slug: name }
  if (page === 'f') return { kind: 'folder', server: url.origin, identifier: name }
  const made = /^\/l\/([a-z0-9-]+)\/?$/.exec(url.pathname)?.[1]
  if (made !== undefined) return { kind: 'link', server: url.origin, slug: made }
  if (/^\/(v2|z)\/[^/]+$/.test(url.pathname)) return { kind: 'bytes', url: url.href }
  throw new ClientError(
    `"${text}" leads to no file or folder; links look like https://files.example.org/d/…, /f/… or /l/….`,
  )
}
