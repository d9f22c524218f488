import { unlessAborted } from '../domain/abort.ts'
import { type PublicFolder, publicFolderFields, type SignedAddress, signedAddressFields } from './answers.ts'
import { AnswerError, ClientError, isAnswer } from './failure.ts'
import { asConnectionErrors, clientRefusal, type RemoteServer, readJsonAnswer, sendRequest } from './http.ts'
import { TRANSFER } from './policy/upload-policy.ts'
import type { Retries } from './retries.ts'

export interface PublicClient {
  readonly server: RemoteServer
  /** Signed address of the bytes, valid for half an hour; null while the file is being uploaded. */
  sign(slug: string): Promise<SignedAddress | null>
  /** From `from` on; null once the file is there. Needs the passwords given to `sign`. */
  arriving(slug: string, from: number, signal: AbortSignal): Promise<Response | null>
  /** Pages count from 1. */
  folder(identifier: string, page: number): Promise<PublicFolder>
}

/** Throws ClientError when no password is available. */
export type Password = () => Promise<string>

/** No real file has more locked ancestors. */
const MOST_LOCKS = 256

export function createPublicClient(server: RemoteServer, retries: Retries, password: Password): PublicClient {
  /** `folder_access_token`, which grows with every unlocked folder. */
  let cookie: string | null = null
  const cookieHeader = (): Record<string, string> => (cookie === null ? {} : { Cookie: cookie })

  /** Retries with passwords while they open something. `lock` finds the locked folder. */
  async function unlocking<T>(attempt: () => Promise<T>, lock: () => Promise<string>): Promise<T> {
    for (let opened = 0; ; opened++) {
      try {
        return await retries.persist(TRANSFER, attempt)
      } catch (error) {
        if (!isAnswer(error, 403, 'PASSWORD_REQUIRED') || opened === MOST_LOCKS) throw error
      }
      await unlock(await lock(), await password())
    }
  }

  async function unlock(folder: string, given: string): Promise<void> {
    const response = await retries.persist(TRANSFER, () => postPassword(folder, given))
    const [name] = response.headers.getSetCookie().map((text) => text.split(';', 1)[0])
    // Without a cookie the folder was open: its password was removed.
    if (name !== undefined) cookie = name
  }

  async function postPassword(folder: string, given: string): Promise<Response> {
    const response = await asConnectionErrors(server.url, () =>
      fetch(`${server.url}/f/${folder}`, {
        method: 'POST',
        body: new URLSearchParams({ password: given }),
        headers: cookieHeader(),
        redirect: 'manual',
      }),
    )
    if (response.status === 303) return response
    // The form again.
    if (response.status === 200) throw new ClientError('the password is wrong.')
    const refusal = await clientRefusal(response, server.url)
    throw refusal.status === 429
      ? new AnswerError('Too many wrong passwords', 429, 'RATE_LIMITED', refusal.retryAfter)
      : refusal
  }

  /** The form on a locked file's page names the locked folder. */
  async function lockOf(slug: string): Promise<string> {
    const response = await retries.persist(TRANSFER, () =>
      sendRequest(server, { method: 'GET', path: `/d/${slug}`, headers: cookieHeader() }),
    )
    const page = await asConnectionErrors(server.url, () => response.text())
    const folder = /<form[^>]*action="\/f\/([a-z0-9]+)"/.exec(page)?.[1]
    if (folder === undefined)
      throw new ClientError('the server asks for a password and does not say for which folder.')
    return folder
  }

  async function signed(slug: string): Promise<SignedAddress> {
    const response = await post('/v2/api/public/download', { file_slug: slug })
    return readJsonAnswer(server, response, signedAddressFields)
  }

  function post(path: string, body: unknown): Promise<Response> {
    const headers = { 'Content-Type': 'application/json', ...cookieHeader() }
    return sendRequest(server, { method: 'POST', path, headers, body: JSON.stringify(body) })
  }

  return {
    server,
    sign: (slug) =>
      unlocking(
        () => signed(slug).catch(nullWhileArriving),
        () => lockOf(slug),
      ),
    arriving: (slug, from, signal) => arrivingBytes(server, cookieHeader(), slug, from, signal),
    folder: (identifier, page) =>
      unlocking(
        async () => {
          const asked = { folder: identifier, page }
          return readJsonAnswer(server, await post('/v2/api/public/folder', asked), publicFolderFields)
        },
        async () => identifier,
      ),
  }
}

async function arrivingBytes(
  { url, key }: RemoteServer,
  unlocked: Readonly<Record<string, string>>,
  slug: string,
  from: number,
  signal: AbortSignal,
): Promise<Response | null> {
  const range: Record<string, string> = from === 0 ? {} : { Range: `bytes=${from}-` }
  const response = await asConnectionErrors(url, () =>
    unlessAborted(
      signal,
      fetch(`${url}/d/${slug}?download=1&wait=1`, {
        headers: {
          ...(key === null ? {} : { Authorization: `Bearer ${key}` }),
          ...unlocked,
          ...range,
          'Accept-Encoding': 'identity',
        },
        redirect: 'manual',
        signal,
      }),
    ),
  )
  if (response.status === 302) return null
  if (response.status === 200 || response.status === 206) return response
  throw await clientRefusal(response, url)
}

function nullWhileArriving(error: unknown): null {
  if (isAnswer(error, 404, 'FILE_ARRIVING')) return null
  throw error
}
