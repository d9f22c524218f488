/** A client that makes and revokes API keys and gives folders passwords until the server is ended under it. */
import { z } from 'zod'
import { type Caller, caller, UnexpectedAnswer } from '../support/clients/caller.ts'
import { isLoss } from './crash-traffic.ts'

const made = z.object({ data: z.object({ id: z.number(), api_key: z.string() }) })
const folder = z.object({ data: z.object({ has_password: z.boolean() }) })

/** Everything that was acknowledged; what has no answer is in none of them. */
export interface Secrets {
  /** Keys that must be let in, by id. */
  readonly keys: Map<number, string>
  /** Keys that must be refused. */
  readonly revoked: Set<string>
  /** Identifiers of folders that must have a password. */
  readonly closed: Set<string>
}

export function noSecrets(): Secrets {
  return { keys: new Map(), revoked: new Set(), closed: new Set() }
}

/** Resolves when the server is gone. Throws what it answered otherwise than a healthy one does. */
export async function changeSecrets(
  server: Caller,
  { keys, revoked, closed }: Secrets,
  isDying: () => boolean,
): Promise<void> {
  for (let step = 0; ; step++) {
    try {
      const body = { name: `key ${step}`, scopes: ['read'] }
      const { id, api_key } = made.parse(await server.post('/api/v1/key', body)).data
      keys.set(id, api_key)
      if (keys.size > 5) await revokeOne(server, keys, revoked)
      // Hashing a password takes its time.
      if (step % 4 !== 0) continue
      const identifier = await server.createFolder(crypto.randomUUID())
      await send(server, 'PATCH', `/api/v1/folder/${identifier}`, { password: 'a folder password' })
      closed.add(identifier)
    } catch (error) {
      if (!isDying() || !isLoss(error)) throw error
      return
    }
  }
}

async function revokeOne(server: Caller, keys: Map<number, string>, revoked: Set<string>): Promise<void> {
  const [first] = keys
  if (first === undefined) return
  const [id, key] = first
  // In doubt until it is answered.
  keys.delete(id)
  await send(server, 'DELETE', `/api/v1/key/${id}`)
  revoked.add(key)
}

/** What the server has forgotten, empty when nothing. Revoked keys are looked at once. */
export async function lostSecrets(server: Caller, { keys, revoked, closed }: Secrets): Promise<string[]> {
  const problems: string[] = []
  for (const key of keys.values()) {
    const refusal = await refusalOf(() => caller(server.url, key).account())
    if (refusal !== null) problems.push(`a key was acknowledged and is refused with ${refusal}`)
  }
  for (const key of revoked) {
    const refusal = await refusalOf(() => caller(server.url, key).account())
    if (refusal !== 401) problems.push('a key was revoked and is let in')
  }
  revoked.clear()
  for (const identifier of closed) {
    const { data } = folder.parse(await server.get(`/api/v1/folder/${identifier}`))
    if (!data.has_password) problems.push(`folder ${identifier} has lost its password`)
  }
  return problems
}

async function refusalOf(call: () => Promise<unknown>): Promise<number | null> {
  try {
    await call()
    return null
  } catch (error) {
    if (error instanceof UnexpectedAnswer) return error.status
    throw error
  }
}

async function send({ url, key }: Caller, method: string, path: string, body?: unknown): Promise<void> {
  const response = await fetch(url + path, {
    method,
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    keepalive: false,
  })
  const text = await response.text()
  if (!response.ok) throw new UnexpectedAnswer(`${method} ${path}`, response.status, text)
}
