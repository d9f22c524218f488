/** The client process: runs the job in its argument and prints the result as JSON. */
import { open } from 'node:fs/promises'
import { basename } from 'node:path'
import type { ClientJob, ClientResult, DownloadJob, DownloadsJob, MeasuredUploadJob } from './client-job.ts'
import { content, repeatableRandom, sha256 } from './content.ts'
import { type HttpConnection, openHttpConnection, type RawHttpAnswer } from './http-connection.ts'
import { sendByTus, type TusTarget } from './tus-upload.ts'

const BOUNDARY = '----holdfast-bench-4f1c9a7e2b'
const MIB = 1024 * 1024

const job: ClientJob = JSON.parse(process.argv[2] ?? '')
const result = await run(job)
process.stdout.write(JSON.stringify(result))
process.exit(0)

function run(job: ClientJob): Promise<ClientResult> {
  switch (job.kind) {
    case 'upload':
      return upload(job)
    case 'download':
      return download(job)
    case 'downloads':
      return downloads(job)
  }
}

async function upload(job: MeasuredUploadJob): Promise<ClientResult> {
  const { to } = job
  if (to.how === 'tus' || to.how === 'tus-synced') return uploadByTus(job, to)
  const url = new URL(to.url)
  const connections = await Promise.all(
    Array.from({ length: job.connections }, () => openHttpConnection(url)),
  )
  // Generated before the clock starts, because generation is not measured.
  const contents = Array.from({ length: job.count }, (_, index) => content(job.size, job.firstNumber + index))
  const answers: RawHttpAnswer[] = []
  let next = 0

  const work = async (connection: HttpConnection) => {
    for (let index = next++; index < job.count; index = next++) {
      answers[index] = await send(
        connection,
        url,
        to,
        job.size,
        job.firstNumber + index,
        contents[index] ?? [],
      )
    }
  }
  const start = performance.now()
  await Promise.all(connections.map(work))
  const seconds = (performance.now() - start) / 1000

  const slugs = to.how === 'multipart' ? answers.map((answer, at) => stored(answer, contents[at] ?? [])) : []
  return { seconds, bytes: job.size * job.count, slugs, sha256: null }
}

async function uploadByTus(job: MeasuredUploadJob, to: TusTarget): Promise<ClientResult> {
  const connection = await openHttpConnection(new URL(to.url))
  const pieces = content(job.size, job.firstNumber)

  const start = performance.now()
  const path = await sendByTus(connection, to, job.size, pieces)
  const seconds = (performance.now() - start) / 1000

  const slug = to.how === 'tus' ? await storedByTus(new URL(path, to.url), to.key, pieces) : basename(path)
  return { seconds, bytes: job.size, slugs: [slug], sha256: null }
}

async function storedByTus(upload: URL, key: string, pieces: readonly Uint8Array[]): Promise<string> {
  const answer = await fetch(upload, { headers: { Authorization: `Bearer ${key}` } })
  const body: { slug: string; sha256: string } = JSON.parse(await answer.text())
  if (body.sha256 !== sha256(pieces)) throw new Error('the hash of an upload by tus is not the content’s')
  return body.slug
}

/** One upload, until the file is durable: our server syncs by itself, files of the others are synced here. */
async function send(
  connection: HttpConnection,
  url: URL,
  to: Exclude<MeasuredUploadJob['to'], TusTarget>,
  size: number,
  number: number,
  pieces: readonly Uint8Array[],
): Promise<RawHttpAnswer> {
  const name = `bench-${number}.bin`
  if (to.how === 'multipart') {
    const opening = `--${BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="${name}"\r\nContent-Type: application/octet-stream\r\n\r\n`
    const closing = `\r\n--${BOUNDARY}--\r\n`
    const head =
      `POST ${url.pathname} HTTP/1.1\r\nHost: ${url.host}\r\nAuthorization: Bearer ${to.key}\r\n` +
      `Content-Type: multipart/form-data; boundary=${BOUNDARY}\r\n` +
      `Content-Length: ${opening.length + size + closing.length}\r\n\r\n`
    const answer = await connection.request(
      joined([Buffer.from(head + opening), ...pieces, Buffer.from(closing)]),
    )
    if (answer.status !== 200) throw new Error(`upload: ${answer.status} ${answer.text}`)
    return answer
  }
  const head = `PUT ${url.pathname}${name} HTTP/1.1\r\nHost: ${url.host}\r\nContent-Length: ${size}\r\n\r\n`
  const answer = await connection.request(joined([Buffer.from(head), ...pieces]))
  if (answer.status !== 201 && answer.status !== 204) throw new Error(`PUT: ${answer.status} ${answer.text}`)
  const file = await open(`${to.folder}/${name}`, 'r')
  await file.sync()
  const { size: stored } = await file.stat()
  await file.close()
  if (stored !== size) throw new Error(`PUT: ${stored} bytes arrived of ${size}`)
  return answer
}

/** Joins a small request into one write, so that no contender has to wait for a second packet. */
function joined(pieces: readonly Uint8Array[]): readonly Uint8Array[] {
  const length = pieces.reduce((sum, piece) => sum + piece.length, 0)
  return length <= MIB ? [Buffer.concat(pieces)] : pieces
}

/** Slug of an acknowledged upload; throws when the server's hash differs from the content's. */
function stored(answer: RawHttpAnswer, pieces: readonly Uint8Array[]): string {
  const body: { slug: string; sha256: string } = JSON.parse(answer.text)
  if (body.sha256 !== sha256(pieces))
    throw new Error(`the server's hash is not the content's: ${answer.text}`)
  return body.slug
}

async function downloads({ list }: DownloadsJob): Promise<ClientResult> {
  const addresses: string[] = await Bun.file(list).json()
  const [first] = addresses
  if (first === undefined) throw new Error('there are no addresses')
  const connection = await openHttpConnection(new URL(first))
  const requests = addresses.map((address) => {
    const url = new URL(address)
    return Buffer.from(`GET ${url.pathname}${url.search} HTTP/1.1\r\nHost: ${url.host}\r\n\r\n`)
  })
  let bytes = 0

  const start = performance.now()
  for (const request of requests) {
    const answer = await connection.request([request])
    if (answer.status !== 200) throw new Error(`GET: ${answer.status} ${answer.text}`)
    bytes += answer.length
  }
  return { seconds: (performance.now() - start) / 1000, bytes, slugs: [], sha256: null }
}

async function download(job: DownloadJob): Promise<ClientResult> {
  const url = new URL(job.url)
  const hash = new Bun.CryptoHasher('sha256')
  const connection = await openHttpConnection(url, job.hash ? (piece) => hash.update(piece) : undefined)
  const random = repeatableRandom(7)
  const bearer = job.key === undefined ? '' : `Authorization: Bearer ${job.key}\r\n`
  const get = `GET ${url.pathname}${url.search} HTTP/1.1\r\nHost: ${url.host}\r\n${bearer}`
  let bytes = 0

  const start = performance.now()
  if (job.ranges === null) {
    const answer = await connection.request([Buffer.from(`${get}\r\n`)])
    if (answer.status !== 200) throw new Error(`GET: ${answer.status} ${answer.text}`)
    bytes = answer.length
  } else {
    const { count, length, size } = job.ranges
    for (let done = 0; done < count; done++) {
      const from = Math.floor(random() * (size - length))
      const request = `${get}Range: bytes=${from}-${from + length - 1}\r\n\r\n`
      const answer = await connection.request([Buffer.from(request)])
      if (answer.status !== 206 || answer.length !== length) {
        throw new Error(`range: ${answer.status}, ${answer.length} bytes of ${length} ${answer.text}`)
      }
      bytes += answer.length
    }
  }
  const seconds = (performance.now() - start) / 1000
  return { seconds, bytes, slugs: [], sha256: job.hash ? hash.digest('hex') : null }
}
