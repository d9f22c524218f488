/**
 * The client of the benchmark: a process of its own, so that its processor time and memory are not the server's. It runs
 * the job in its argument over raw sockets, and prints the result as JSON.
 */
import { open } from 'node:fs/promises'
import { basename } from 'node:path'
import { runProgram } from '../test/support/processes/program.ts'
import { content, repeatableRandom, sha256 } from './content.ts'

/**
 * Where uploads go: a form to Holdfast; a PUT to `url` plus a name; or tus, with so many bytes a PATCH. Where a server
 * answers before the bytes are on the disk, the client syncs the file in `syncIn`.
 */
export type UploadTarget =
  | { readonly by: 'form'; readonly url: string; readonly key: string }
  | { readonly by: 'put'; readonly url: string; readonly key?: string; readonly syncIn?: string }
  | {
      readonly by: 'tus'
      readonly url: string
      readonly patch: number
      readonly key?: string
      readonly syncIn?: string
    }

/** Sizes are bytes. */
export type Job =
  | {
      readonly kind: 'upload'
      readonly to: UploadTarget
      readonly size: number
      readonly count: number
      /** Kept connections that send at once. */
      readonly connections: number
      /** Number of the first content; the following ones count up. */
      readonly first: number
    }
  /** Reads each address whole, on one kept connection. */
  | { readonly kind: 'download'; readonly urls: readonly string[] }
  /** Reads so many ranges at random places, the same ones in every run. */
  | {
      readonly kind: 'ranges'
      readonly url: string
      readonly count: number
      readonly length: number
      readonly size: number
    }

export interface JobResult {
  readonly seconds: number
  readonly bytes: number
  /** Slugs of files on Holdfast, names of files elsewhere. */
  readonly names: readonly string[]
}

/** Runs the job in a process of its own. Throws when any answer was wrong. */
export async function runClient(job: Job): Promise<JobResult> {
  const { code, output, errors } = await runProgram([process.execPath, import.meta.path], {
    stdin: new TextEncoder().encode(JSON.stringify(job)),
  })
  if (code !== 0) throw new Error(`the client failed: ${errors.trim().slice(0, 2000)}`)
  return JSON.parse(output)
}

interface Answer {
  readonly status: number
  /** Bytes of the body. */
  readonly length: number
  /** The first 64 KiB of the body. */
  readonly text: string
}

const KEPT = 64 * 1024
const HEAD_END = Buffer.from('\r\n\r\n')

/** A kept HTTP/1.1 connection with minimal overhead, because client and server share the cores. */
class Connection {
  readonly #socket: Bun.Socket
  #pieces: Iterator<Uint8Array> = [].values()
  #unsent: Uint8Array | null = null
  #head = Buffer.alloc(0)
  #kept: Buffer[] = []
  #status = 0
  #length = 0
  #left: number | null = null
  #waiting: { resolve(answer: Answer): void; reject(error: Error): void } | null = null

  private constructor(socket: Bun.Socket) {
    this.#socket = socket
  }

  static async open(url: URL): Promise<Connection> {
    let connection: Connection | null = null
    const socket = await Bun.connect({
      hostname: url.hostname,
      port: Number(url.port),
      socket: {
        drain: () => connection?.pump(),
        data: (_, piece) => connection?.take(piece),
        close: () =>
          connection?.fail(new Error('the server closed the connection before its answer was whole')),
        error: (_, error) => connection?.fail(error),
      },
    })
    connection = new Connection(socket)
    return connection
  }

  /** Sends the pieces, head and body, as they are; resolves with the whole answer. */
  request(pieces: readonly Uint8Array[]): Promise<Answer> {
    this.#pieces = pieces.values()
    this.#head = Buffer.alloc(0)
    this.#kept = []
    this.#length = 0
    this.#left = null
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject }
      this.pump()
    })
  }

  pump(): void {
    for (;;) {
      if (this.#unsent === null) {
        const next = this.#pieces.next()
        if (next.done) return
        this.#unsent = next.value
      }
      const written = this.#socket.write(this.#unsent)
      if (written < 0) {
        this.fail(new Error('the server closed the connection while it was sent a request'))
        return
      }
      if (written < this.#unsent.length) {
        this.#unsent = this.#unsent.subarray(written)
        return
      }
      this.#unsent = null
    }
  }

  take(piece: Buffer): void {
    if (this.#left !== null) {
      this.#takeBody(piece)
      return
    }
    this.#head = Buffer.concat([this.#head, piece])
    const end = this.#head.indexOf(HEAD_END)
    if (end === -1) return
    const head = this.#head.subarray(0, end).toString('latin1')
    this.#status = Number(head.slice(9, 12))
    const length = /^content-length: *(\d+)/im.exec(head)?.[1]
    if (length === undefined && this.#status !== 204 && this.#status !== 201) {
      this.fail(new Error(`an answer without Content-Length: ${head}`))
      return
    }
    this.#left = Number(length ?? 0)
    this.#takeBody(this.#head.subarray(end + HEAD_END.length))
  }

  #takeBody(piece: Buffer): void {
    if (this.#length < KEPT) this.#kept.push(Buffer.from(piece))
    this.#length += piece.length
    this.#left = (this.#left ?? 0) - piece.length
    if (this.#left > 0) return
    const waiting = this.#waiting
    this.#waiting = null
    const text = this.#length <= KEPT ? Buffer.concat(this.#kept).toString('utf8') : ''
    waiting?.resolve({ status: this.#status, length: this.#length, text })
  }

  fail(error: Error): void {
    this.#waiting?.reject(error)
    this.#waiting = null
  }
}

async function run(job: Job): Promise<JobResult> {
  switch (job.kind) {
    case 'upload':
      return upload(job)
    case 'download':
      return download(job.urls)
    case 'ranges':
      return ranges(job)
  }
}

async function upload(job: Extract<Job, { kind: 'upload' }>): Promise<JobResult> {
  const { to, size, count } = job
  const connections = await Promise.all(
    Array.from({ length: job.connections }, () => Connection.open(new URL(to.url))),
  )
  // Before the clock starts: making bytes is not measured.
  const contents = Array.from({ length: count }, (_, at) => content(size, job.first + at))
  const names: string[] = []
  const check: (() => Promise<void>)[] = []
  let next = 0
  const start = performance.now()
  await Promise.all(
    connections.map(async (connection) => {
      for (let at = next++; at < count; at = next++) {
        const pieces = contents[at] ?? []
        const sent = await send(connection, to, `bench-${job.first + at}.bin`, size, pieces)
        names[at] = sent.name
        check.push(() => sent.check(sha256(pieces)))
      }
    }),
  )
  const seconds = (performance.now() - start) / 1000
  for (const each of check) await each()
  return { seconds, bytes: size * count, names }
}

interface Sent {
  readonly name: string
  /** Throws when the server has another hash of the content, if it has one. */
  check(hash: string): Promise<void>
}

const BOUNDARY = '----holdfast-bench-4f1c9a7e2b'

/** One upload, until the file is durable. */
async function send(
  connection: Connection,
  to: UploadTarget,
  name: string,
  size: number,
  pieces: readonly Uint8Array[],
): Promise<Sent> {
  const url = new URL(to.url)
  const bearer = to.key === undefined ? '' : `Authorization: Bearer ${to.key}\r\n`
  switch (to.by) {
    case 'form': {
      const opening = `--${BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="${name}"\r\nContent-Type: application/octet-stream\r\n\r\n`
      const closing = `\r\n--${BOUNDARY}--\r\n`
      const head = `POST ${url.pathname} HTTP/1.1\r\nHost: ${url.host}\r\n${bearer}Content-Type: multipart/form-data; boundary=${BOUNDARY}\r\nContent-Length: ${opening.length + size + closing.length}\r\n\r\n`
      const answer = await connection.request(
        joined([Buffer.from(head + opening), ...pieces, Buffer.from(closing)]),
      )
      if (answer.status !== 200) throw new Error(`form: ${answer.status} ${answer.text}`)
      return stored(answer.text)
    }
    case 'put': {
      const head = `PUT ${url.pathname}${name} HTTP/1.1\r\nHost: ${url.host}\r\n${bearer}Content-Length: ${size}\r\n\r\n`
      const answer = await connection.request(joined([Buffer.from(head), ...pieces]))
      if (answer.status < 200 || answer.status > 204) throw new Error(`PUT: ${answer.status} ${answer.text}`)
      if (to.syncIn !== undefined) await sync(`${to.syncIn}/${name}`, size)
      const slug = /\/d\/(\w+)/.exec(answer.text)?.[1]
      return { name: slug ?? name, check: async () => {} }
    }
    case 'tus': {
      const own = {
        'Tus-Resumable': '1.0.0',
        ...(to.key === undefined ? {} : { Authorization: `Bearer ${to.key}` }),
      }
      const creation = { method: 'POST', headers: { ...own, 'Upload-Length': String(size) } }
      const created = await fetch(to.url, creation)
      const location = created.headers.get('location')
      if (created.status !== 201 || location === null) throw new Error(`creation: ${created.status}`)
      const { pathname, host } = new URL(location, to.url)
      for (let offset = 0; offset < size; offset += to.patch) {
        const length = Math.min(to.patch, size - offset)
        const head = `PATCH ${pathname} HTTP/1.1\r\nHost: ${host}\r\nTus-Resumable: 1.0.0\r\n${bearer}Upload-Offset: ${offset}\r\nContent-Type: application/offset+octet-stream\r\nContent-Length: ${length}\r\n\r\n`
        // Pieces are 1 MiB each, and `patch` is a multiple of it.
        const body = pieces.slice(offset / 2 ** 20, (offset + length) / 2 ** 20)
        const answer = await connection.request([Buffer.from(head), ...body])
        if (answer.status !== 204) throw new Error(`PATCH: ${answer.status} ${answer.text}`)
      }
      if (to.syncIn !== undefined) {
        await sync(`${to.syncIn}/${basename(pathname)}`, size)
        return { name: basename(pathname), check: async () => {} }
      }
      const answer = await fetch(new URL(pathname, to.url), { headers: own })
      return stored(await answer.text())
    }
  }
}

/** A small request in one write, so that no contender waits for a second packet. */
function joined(pieces: readonly Uint8Array[]): readonly Uint8Array[] {
  const length = pieces.reduce((sum, piece) => sum + piece.length, 0)
  return length <= 2 ** 20 ? [Buffer.concat(pieces)] : pieces
}

/** A file as Holdfast answers it. */
function stored(text: string): Sent {
  const body: { slug: string; sha256: string } = JSON.parse(text)
  return {
    name: body.slug,
    async check(hash) {
      if (body.sha256 !== hash) throw new Error(`the server's hash is not the content's: ${text}`)
    },
  }
}

async function sync(path: string, size: number): Promise<void> {
  await using file = await open(path, 'r')
  await file.sync()
  const { size: there } = await file.stat()
  if (there !== size) throw new Error(`${there} bytes arrived of ${size}`)
}

async function download(urls: readonly string[]): Promise<JobResult> {
  const [first] = urls
  if (first === undefined) throw new Error('there is nothing to download')
  const connection = await Connection.open(new URL(first))
  let bytes = 0
  const start = performance.now()
  for (const each of urls) {
    const url = new URL(each)
    const request = `GET ${url.pathname}${url.search} HTTP/1.1\r\nHost: ${url.host}\r\n\r\n`
    const answer = await connection.request([Buffer.from(request)])
    if (answer.status !== 200) throw new Error(`GET: ${answer.status} ${answer.text}`)
    bytes += answer.length
  }
  return { seconds: (performance.now() - start) / 1000, bytes, names: [] }
}

async function ranges({
  url: from,
  count,
  length,
  size,
}: Extract<Job, { kind: 'ranges' }>): Promise<JobResult> {
  const url = new URL(from)
  const connection = await Connection.open(url)
  const random = repeatableRandom(7)
  const start = performance.now()
  for (let done = 0; done < count; done++) {
    const at = Math.floor(random() * (size - length))
    const request = `GET ${url.pathname}${url.search} HTTP/1.1\r\nHost: ${url.host}\r\nRange: bytes=${at}-${at + length - 1}\r\n\r\n`
    const answer = await connection.request([Buffer.from(request)])
    if (answer.status !== 206 || answer.length !== length)
      throw new Error(`range: ${answer.status}, ${answer.length} bytes of ${length}`)
  }
  return { seconds: (performance.now() - start) / 1000, bytes: count * length, names: [] }
}

if (import.meta.main) {
  process.stdout.write(JSON.stringify(await run(await Bun.stdin.json())))
  process.exit(0)
}
