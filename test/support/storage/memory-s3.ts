/** An S3 store in memory: for answers that no fault of a connection can bring, and for tests in milliseconds. */
import { createHash } from 'node:crypto'
import {
  type S3Answer,
  type S3Client,
  type S3Request,
  type S3Stream,
  usualTimeouts,
} from '../../../src/blobs/s3-client.ts'
import { S3Failure } from '../../../src/blobs/s3-failure.ts'

interface Part {
  readonly etag: string
  readonly bytes: Buffer
}

interface Upload {
  readonly object: string
  readonly parts: Map<number, Part>
}

/** Parts may be of any size; those that are joined have to be in ascending order. */
export class MemoryS3 implements S3Client {
  readonly bucket = 'memory'
  readonly timeouts = usualTimeouts
  readonly objects = new Map<string, Buffer>()
  readonly uploads = new Map<string, Upload>()
  /** Every request in the order of their beginnings, such as `PUT tails/00/…` and `PUT part 2`. */
  readonly requests: string[] = []
  /** Called before each request; may wait, or throw instead of it. */
  before: (request: S3Request, name: string) => void | Promise<void> = () => {}
  /** Called after each request; may throw, which loses the answer. */
  after: (name: string) => void = () => {}
  /** The size that the store tells of an object. */
  sizeOfObject = (bytes: Buffer): number => bytes.length
  /** The size that the store tells of a part. */
  sizeOfPart = (bytes: Buffer): number => bytes.length

  async send(request: S3Request): Promise<S3Answer> {
    const name = nameOf(request)
    this.requests.push(name)
    await this.before(request, name)
    request.signal?.throwIfAborted()
    const answer = this.#answer(request)
    this.after(name)
    return answer
  }

  async open<T>(request: S3Request, use: (answer: S3Stream) => T | Promise<T>): Promise<T> {
    const name = nameOf(request)
    this.requests.push(name)
    await this.before(request, name)
    const whole = this.#found(request.object ?? '')
    const range = request.headers?.Range
    const bytes = rangeOf(whole, range)
    const headers = new Headers({ 'Content-Length': String(bytes.length) })
    if (range !== undefined) headers.set('Content-Range', `${range.replace('=', ' ')}/${whole.length}`)
    const body = new Uint8Array(bytes)
    const takeBody = () => new Blob([body]).stream()
    return use({
      status: range === undefined ? 200 : 206,
      headers,
      bytes: async () => body,
      takeBody,
      close() {},
    })
  }

  async presign(object: string): Promise<string> {
    return `memory:${object}`
  }

  #answer({ method, object = '', query = {}, headers = {}, body = new Uint8Array() }: S3Request): S3Answer {
    const { uploadId } = query
    const source = headers['x-amz-copy-source']
    if (source !== undefined && uploadId !== undefined) {
      const bytes = this.#found(source.slice('/memory/'.length))
      const part = rangeOf(bytes, headers['x-amz-copy-source-range'])
      const etag = this.#putPart(uploadId, query.partNumber, part).headers.get('ETag')
      return answerOf(`<CopyPartResult><ETag>${etag}</ETag></CopyPartResult>`)
    }
    if (method === 'POST') return uploadId === undefined ? this.#begin(object) : this.#join(uploadId, body)
    if (method === 'PUT' && uploadId !== undefined) return this.#putPart(uploadId, query.partNumber, body)
    if (method === 'PUT') return this.#put(object, body)
    if (method === 'HEAD') {
      const length = String(this.sizeOfObject(this.#found(object, '')))
      return { headers: new Headers({ 'Content-Length': length }), text: '' }
    }
    if (method === 'DELETE') {
      if (uploadId === undefined) this.objects.delete(object)
      else if (!this.uploads.delete(uploadId)) throw new S3Failure(404, 'NoSuchUpload', uploadId)
      return answerOf('')
    }
    if (uploadId !== undefined) return this.#listParts(uploadId, query)
    return object === '' ? this.#list(query) : answerOf(this.#found(object).toString())
  }

  #begin(object: string): S3Answer {
    const id = crypto.randomUUID()
    this.uploads.set(id, { object, parts: new Map() })
    return answerOf(`<UploadId>${id}</UploadId>`)
  }

  #put(object: string, body: Uint8Array): S3Answer {
    const bytes = Buffer.from(body)
    this.objects.set(object, bytes)
    return { headers: new Headers({ ETag: etagOf(bytes) }), text: '' }
  }

  #putPart(id: string, number: string | undefined, body: Uint8Array): S3Answer {
    const bytes = Buffer.from(body)
    const etag = etagOf(bytes)
    this.#upload(id).parts.set(Number(number), { etag, bytes })
    return { headers: new Headers({ ETag: etag }), text: '' }
  }

  #join(id: string, body: Uint8Array): S3Answer {
    const { object, parts } = this.#upload(id)
    const text = Buffer.from(body).toString().replaceAll('&quot;', '"')
    const wanted = [...text.matchAll(/<PartNumber>(\d+)<\/PartNumber><ETag>([^<]*)</g)]
    const joined: Buffer[] = []
    let last = 0
    for (const [, number, etag] of wanted) {
      const part = parts.get(Number(number))
      if (Number(number) <= last || part === undefined || part.etag !== etag)
        throw new S3Failure(400, 'InvalidPart', `${number}`)
      last = Number(number)
      joined.push(part.bytes)
    }
    if (wanted.length === 0) throw new S3Failure(400, 'MalformedXML', text)
    this.uploads.delete(id)
    this.objects.set(object, Buffer.concat(joined))
    return answerOf('')
  }

  #listParts(id: string, query: Readonly<Record<string, string>>): S3Answer {
    // As Ceph says it, and others say NoSuchUpload.
    if (!this.uploads.has(id)) throw new S3Failure(404, 'NoSuchKey', id)
    const after = Number(query['part-number-marker'] ?? 0)
    const later = [...this.#upload(id).parts].filter(([number]) => number > after).sort(([a], [b]) => a - b)
    const page = later.slice(0, Number(query['max-parts'] ?? 1000))
    const parts = page.map(
      ([number, { etag, bytes }]) =>
        `<Part><PartNumber>${number}</PartNumber><ETag>${etag}</ETag><Size>${this.sizeOfPart(bytes)}</Size></Part>`,
    )
    return answerOf(`<IsTruncated>${page.length < later.length}</IsTruncated>${parts.join('')}`)
  }

  #list(query: Readonly<Record<string, string>>): S3Answer {
    const { prefix = '' } = query
    if ('uploads' in query) {
      const found = [...this.uploads].filter(([, { object }]) => object.startsWith(prefix))
      const texts = found.map(
        ([id, { object }]) => `<Upload><Key>${object}</Key><UploadId>${id}</UploadId></Upload>`,
      )
      return answerOf(texts.join(''))
    }
    const names = [...this.objects.keys()].filter((name) => name.startsWith(prefix))
    return answerOf(names.map((name) => `<Contents><Key>${name}</Key></Contents>`).join(''))
  }

  #upload(id: string): Upload {
    const upload = this.uploads.get(id)
    if (upload === undefined) throw new S3Failure(404, 'NoSuchUpload', id)
    return upload
  }

  /** To a HEAD a store cannot tell what is missing. */
  #found(object: string, code = 'NoSuchKey'): Buffer {
    const bytes = this.objects.get(object)
    if (bytes === undefined) throw new S3Failure(404, code, object)
    return bytes
  }
}

function nameOf({ method, object = '', query = {} }: S3Request): string {
  if (query.partNumber !== undefined) return `${method} part ${query.partNumber}`
  return `${method} ${object}${query.uploadId === undefined ? '' : ' upload'}`
}

/** The bytes of a range such as `bytes=0-9`. */
function rangeOf(bytes: Buffer, range: string | undefined): Buffer {
  const [, first = '0', last = String(bytes.length - 1)] = /^bytes=(\d+)-(\d+)$/.exec(range ?? '') ?? []
  return bytes.subarray(Number(first), Number(last) + 1)
}

function etagOf(bytes: Buffer): string {
  return `"${createHash('md5').update(bytes).digest('hex')}"`
}

function answerOf(text: string): S3Answer {
  return { headers: new Headers(), text }
}
