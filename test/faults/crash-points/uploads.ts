/** One upload of each kind, one after another, and what each answer has acknowledged. */
import { z } from 'zod'
import { type Chance, chance } from '../../support/chance.ts'
import { type Caller, sha256 } from '../../support/clients/caller.ts'
import { CHUNK, metadata, TUS, UPLOADS } from '../../support/clients/tus.ts'
import { PNG } from '../../support/contents/picture.ts'
import { eventually } from '../../support/eventually.ts'
import type { ExpectedFile } from '../crash-model.ts'

/** An unfinished resumable upload. */
export interface Arriving {
  readonly path: string
  readonly slug: string
  /** An upload that is to be a part of another is no file. */
  readonly isPart: boolean
  /** Whether the server has been told its length. */
  readonly knowsLength: boolean
  readonly content: Uint8Array<ArrayBuffer>
  readonly name: string
}

export interface Step {
  readonly title: string
  /** `X-Request-Id` of the answer that acknowledges it. */
  readonly answer: string
  /** All that it changes. */
  readonly effect: Effect
}

interface Effect {
  readonly file?: NewFile
  readonly arriving?: Arriving & { readonly offset: number }
  /** Paths of uploads that have ended. */
  readonly ended?: readonly string[]
  readonly moved?: { readonly slug: string; readonly folder: string }
  readonly deleted?: string
  readonly folder?: { readonly id: string; readonly name: string }
  /** Identifier of a folder that is deleted with the files in it. */
  readonly cleared?: string
}

export type NewFile = Pick<ExpectedFile, 'name' | 'size' | 'sha256'> & {
  readonly slug: string
  /** Null for a guest's. */
  readonly folder: string | null
}

/** What is there before the first step. */
export interface Beginning {
  readonly folder: { readonly id: string; readonly name: string }
  /** With a file in it, to be deleted. */
  readonly crowded: { readonly id: string; readonly name: string }
  readonly files: readonly NewFile[]
}

const KNOWN = chance(11).bytes(9_000)

export async function begin(server: Caller): Promise<Beginning> {
  const folder = { name: 'a folder', id: await server.createFolder('a folder') }
  const crowded = { name: 'to be deleted', id: await server.createFolder('to be deleted') }
  const files: NewFile[] = []
  for (const [name, content, place] of [
    ['known.bin', KNOWN, 'root'],
    ['to be moved.bin', chance(12).bytes(5_000), 'root'],
    ['to be deleted.bin', chance(13).bytes(5_000), 'root'],
    ['in the folder.bin', chance(14).bytes(5_000), crowded.id],
  ] as const) {
    const { slug } = await server.upload(content, name, place)
    files.push(asFile(slug, name, content, place))
  }
  return { folder, crowded, files }
}

/** Uploads everything, moves a file and deletes one. `size` of the largest file. */
export async function uploadEverything(server: Caller, start: Beginning, size: number): Promise<Step[]> {
  const own = chance(20)
  const steps: Step[] = []
  for (const make of [
    ...direct(start, own, size),
    resumable,
    deferred,
    concatenated,
    changes(start),
    pictured,
  ]) {
    for await (const step of make(server, own)) steps.push(step)
  }
  return steps
}

type RawBody = Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array>
type Steps = (server: Caller, own: Chance) => AsyncGenerator<Step>

const answered = z.object({ slug: z.string() })
const withThumbnail = z.object({ data: z.object({ has_thumbnail: z.boolean() }) })

function direct({ folder }: Beginning, own: Chance, size: number): Steps[] {
  const form = (title: string, name: string, content: Uint8Array<ArrayBuffer>, place: string | null): Steps =>
    async function* (server) {
      const body = new FormData()
      body.set('file', new File([content], name))
      const headers: Record<string, string> =
        place === null ? {} : { authorization: `Bearer ${server.key}`, 'x-folder-id': place }
      const { id, json } = await send(server, 'POST', '/api/v1/upload', { headers, body })
      yield { title, answer: id, effect: { file: asFile(answered.parse(json).slug, name, content, place) } }
    }
  const raw = (title: string, name: string, bodyOf: (content: Uint8Array<ArrayBuffer>) => RawBody): Steps =>
    async function* (server) {
      const content = own.bytes(7_000)
      const headers = withKey(server, { accept: 'application/json' })
      const init = { headers, body: bodyOf(content) }
      const { id, json } = await send(server, 'PUT', `/api/v1/upload/${name}`, init)
      const file = asFile(answered.parse(json).slug, name, content, 'root')
      yield { title, answer: id, effect: { file } }
    }
  return [
    form('a form', 'form.bin', own.bytes(size), folder.id),
    raw('a raw upload', 'raw.bin', (content) => content),
    raw('a raw upload of unknown length', 'chunked.bin', inChunks),
    form('a guest’s form', 'guest.bin', own.bytes(3_000), null),
    form('known content, whose new copy takes the place of the old one', 'again.bin', KNOWN, 'root'),
  ]
}

const resumable: Steps = async function* (server, own) {
  const content = own.bytes(12_000)
  const name = 'resumable.bin'
  const created = await create(server, {
    'upload-length': '12000',
    'upload-metadata': metadata({ filename: name }),
  })
  const arriving = { path: created.path, slug: created.slug, isPart: false, knowsLength: true, content, name }
  yield { title: 'a resumable upload', answer: created.id, effect: { arriving: { ...arriving, offset: 0 } } }
  const first = await patch(server, created.path, 0, content.slice(0, 6_500))
  yield { title: 'its first bytes', answer: first.id, effect: { arriving: { ...arriving, offset: 6_500 } } }
  const last = await patch(server, created.path, 6_500, content.slice(6_500))
  const file = asFile(created.slug, name, content, 'root')
  yield { title: 'its last bytes', answer: last.id, effect: { file, ended: [created.path] } }
}

/** The length comes with the last bytes. */
const deferred: Steps = async function* (server, own) {
  const [first, last] = [own.bytes(5_000), own.bytes(3_000)]
  const content = Uint8Array.from(Buffer.concat([first, last]))
  const name = 'deferred.bin'
  const headers = { ...CHUNK, 'upload-defer-length': '1', 'upload-metadata': metadata({ filename: name }) }
  const { id, path, slug } = await create(server, headers, first)
  const arriving = { path, slug, isPart: false, content, name, offset: first.length, knowsLength: false }
  yield { title: 'an upload whose length comes later', answer: id, effect: { arriving } }
  const end = await patch(server, path, first.length, last, content.length)
  const file = asFile(slug, name, content, 'root')
  yield { title: 'its length and last bytes', answer: end.id, effect: { file, ended: [path] } }
}

/** A process of its own makes the thumbnail. */
const pictured: Steps = async function* (server) {
  const body = new FormData()
  body.set('file', new File([PNG], 'picture.png'))
  const { id, json } = await send(server, 'POST', '/api/v1/upload', { headers: withKey(server, {}), body })
  const { slug } = answered.parse(json)
  yield { title: 'a picture', answer: id, effect: { file: asFile(slug, 'picture.png', PNG, 'root') } }
  await eventually('the picture has a thumbnail', async () => {
    const { data } = withThumbnail.parse(await server.get(`/api/v1/file/${slug}`))
    return data.has_thumbnail
  })
}

const concatenated: Steps = async function* (server, own) {
  const parts: { readonly path: string; readonly content: Uint8Array<ArrayBuffer> }[] = []
  for (const length of [4_000, 5_500]) {
    const content = own.bytes(length)
    const headers = { ...CHUNK, 'upload-length': String(length), 'upload-concat': 'partial' }
    const { id, path, slug } = await create(server, headers, content)
    parts.push({ path, content })
    const arriving = { path, slug, isPart: true, knowsLength: true, content, name: '' }
    yield { title: 'a part', answer: id, effect: { arriving: { ...arriving, offset: length } } }
  }
  const paths = parts.map(({ path }) => path)
  const name = 'joined.bin'
  const created = await create(server, {
    'upload-concat': `final;${paths.join(' ')}`,
    'upload-metadata': metadata({ filename: name }),
  })
  const whole = Uint8Array.from(Buffer.concat(parts.map(({ content }) => content)))
  const file = asFile(created.slug, name, whole, 'root')
  // From here on the server joins them by itself, also after a crash.
  yield { title: 'a concatenation', answer: created.id, effect: { file, ended: paths } }
  await eventually('the parts are joined', async () => {
    const { headers } = await send(server, 'HEAD', created.path, { headers: withKey(server, TUS) })
    return headers.has('upload-offset')
  })
}

function changes({ files, folder, crowded }: Beginning): Steps {
  return async function* (server) {
    const slugOf = (wanted: string) => files.find(({ name }) => name === wanted)?.slug ?? ''
    const headers = withKey(server, { 'content-type': 'application/json' })
    const post = (path: string, body: unknown) =>
      send(server, 'POST', path, { headers, body: JSON.stringify(body) })
    const moved = { slug: slugOf('to be moved.bin'), folder: folder.id }
    const move = await post('/api/v1/file/move', { file: moved.slug, folder: moved.folder })
    yield { title: 'a move', answer: move.id, effect: { moved } }
    const deleted = slugOf('to be deleted.bin')
    const remove = await post('/file/delete', { identifiers: [deleted] })
    yield { title: 'a delete', answer: remove.id, effect: { deleted } }
    const made = await post('/api/v1/folder', { name: 'another folder' })
    const { data } = z.object({ data: z.object({ identifier: z.string() }) }).parse(made.json)
    const another = { id: data.identifier, name: 'another folder' }
    yield { title: 'a folder', answer: made.id, effect: { folder: another } }
    const clear = await post('/folder/delete', { identifiers: [crowded.id] })
    yield { title: 'a delete of a folder', answer: clear.id, effect: { cleared: crowded.id } }
  }
}

function asFile(slug: string, name: string, content: Uint8Array, folder: string | null): NewFile {
  return { slug, name, size: content.length, sha256: sha256(content), folder }
}

function inChunks(content: Uint8Array<ArrayBuffer>): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(controller) {
      controller.enqueue(content.subarray(0, 4_000))
      controller.enqueue(content.subarray(4_000))
      controller.close()
    },
  })
}

const withKey = ({ key }: Caller, headers: Readonly<Record<string, string>>) => ({
  ...headers,
  authorization: `Bearer ${key}`,
})

async function create(
  server: Caller,
  headers: Readonly<Record<string, string>>,
  body?: Uint8Array<ArrayBuffer>,
): Promise<{ id: string; path: string; slug: string }> {
  const init = { headers: withKey(server, { ...TUS, ...headers }), ...(body === undefined ? {} : { body }) }
  const answer = await send(server, 'POST', UPLOADS, init)
  const location = answer.headers.get('location') ?? ''
  return { id: answer.id, path: location, slug: answered.parse(answer.json).slug }
}

/** `length`: of the whole upload, where the server has not been told yet. */
export function patch(
  server: Caller,
  path: string,
  offset: number,
  body: Uint8Array<ArrayBuffer>,
  length: number | null = null,
): Promise<Answer> {
  const told: Record<string, string> = length === null ? {} : { 'upload-length': String(length) }
  const headers = withKey(server, { ...TUS, ...CHUNK, ...told, 'upload-offset': String(offset) })
  return send(server, 'PATCH', path, { headers, body })
}

export interface Answer {
  readonly id: string
  readonly headers: Headers
  readonly json: unknown
}

async function send({ url }: Caller, method: string, path: string, init: RequestInit): Promise<Answer> {
  const response = await fetch(url + path, { method, keepalive: false, ...init })
  const text = await response.text()
  if (!response.ok) throw new Error(`${method} ${path} was answered ${response.status}: ${text}`)
  const id = response.headers.get('x-request-id') ?? ''
  const isJson = response.headers.get('content-type')?.startsWith('application/json') && text !== ''
  return { id, headers: response.headers, json: isJson ? JSON.parse(text) : null }
}
