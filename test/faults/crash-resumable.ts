/** Resumable uploads of the crash rounds: what was told of an offset is there after the crash, byte for byte. */
import { z } from 'zod'
import { type Caller, sha256, UnexpectedAnswer } from '../support/clients/caller.ts'
import { guestAt, type Tus, tus } from '../support/clients/tus.ts'
import type { CrashModel, ExpectedFile } from './crash-model.ts'

/** A resumable upload that was created, and that no answer has ended. */
export interface ResumableUpload {
  readonly name: string
  readonly slug: string
  readonly folder: string
  readonly content: Uint8Array<ArrayBuffer>
  /** The last offset that was answered. */
  told: number
}

const finishing = z.discriminatedUnion('status', [
  z.object({ status: z.literal('processing') }),
  z.object({ status: z.literal('completed'), sha256: z.string() }),
])
const unfinished = z.object({
  data: z.array(z.object({ location: z.string(), name: z.string(), slug: z.string() })),
})

export function tusOf({ url, key }: Pick<Caller, 'url' | 'key'>): Tus {
  const guest = guestAt(url)
  const send: typeof guest.send = (path, init) => {
    const headers = new Headers(init?.headers)
    headers.set('authorization', `Bearer ${key}`)
    return guest.send(path, { ...init, headers })
  }
  return tus({ send, get: (path, headers) => send(path, { headers: headers ?? {} }) })
}

/** Sends the rest of an upload and notes what is answered. Throws UnexpectedAnswer. */
export async function sendOn(
  client: Tus,
  path: string,
  upload: ResumableUpload,
  upTo: number,
): Promise<void> {
  const { status, headers, body } = await client.patch(
    path,
    upload.told,
    upload.content.slice(upload.told, upTo),
  )
  if (status !== 204) throw new UnexpectedAnswer(`PATCH ${path}`, status, JSON.stringify(body))
  upload.told = z.coerce.number().int().parse(headers.get('upload-offset'))
}

/**
 * The hash of an upload whose last byte was answered, once it is a file: where the disk failed meanwhile the next server
 * makes it one. Throws UnexpectedAnswer.
 */
export async function finishedHash(client: Tus, path: string): Promise<string> {
  for (;;) {
    const { status, body } = await client.look(path)
    if (status !== 200) throw new UnexpectedAnswer(`GET ${path}`, status, JSON.stringify(body))
    const state = finishing.parse(body)
    if (state.status === 'completed') return state.sha256
    await Bun.sleep(20)
  }
}

/**
 * Looks at every upload that a crash has interrupted, and finishes it, so that its bytes are read back with those of all
 * files. One whose creation has no answer is removed. Returns what is wrong.
 */
export async function settleResumable(model: CrashModel, server: Caller): Promise<string[]> {
  const problems: string[] = []
  const client = tusOf(server)
  for (const [path, upload] of model.resumable) {
    const { status, headers } = await client.head(path)
    const offset = Number(headers.get('upload-offset'))
    if (status !== 200) {
      problems.push(`the upload of ${upload.name} was acknowledged, and HEAD of it answers ${status}`)
    } else if (offset < upload.told) {
      problems.push(`${upload.told} bytes of ${upload.name} were acknowledged, and ${offset} are there`)
    } else {
      upload.told = offset
      if (offset < upload.content.length) await sendOn(client, path, upload, upload.content.length)
      await finishedHash(client, path)
      model.pendingFiles.delete(upload.name)
      model.files.set(upload.slug, expectedOf(upload))
    }
  }
  const { data } = unfinished.parse(await server.get('/api/v1/uploads'))
  for (const { location, name, slug } of data) {
    if (model.arriving.has(slug)) continue
    if (!model.pendingFiles.has(name)) problems.push(`an upload of ${name} is there and should not be`)
    await client.remove(location)
  }
  model.resumable.clear()
  return problems
}

export function expectedOf({ name, content, folder }: ResumableUpload): ExpectedFile {
  return { name, size: content.length, sha256: sha256(content), places: [folder], doubt: 'none' }
}
