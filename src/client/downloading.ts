import { constants } from 'node:fs'
import { type FileHandle, mkdir, open, rename, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { chunksUnlessAborted } from '../domain/abort.ts'
import { SECOND } from '../domain/clock.ts'
import { wholeNumber } from '../domain/ids.ts'
import { AnswerError, ClientError, ConnectionError, isAnswer } from './failure.ts'
import { asConnectionErrors, idleTimeout } from './http.ts'
import { syncFolder } from './local-file.ts'
import { localName, type Places, partName } from './places.ts'
import { TRANSFER } from './policy/upload-policy.ts'
import {
  type ContentAddress,
  continues,
  describeContent,
  dispositionName,
  openContent,
  type RemoteContent,
} from './remote-content.ts'
import type { Retries } from './retries.ts'
import type { TransferProgress, WatchedTransfer } from './upload-job.ts'

export interface Wanted {
  /** Asked again for every attempt, because addresses expire. Null while the file is being uploaded. */
  readonly address: () => Promise<ContentAddress | null>
  readonly arriving: ArrivingFile | null
  /** Null where the server names it. */
  readonly name: string | null
  readonly folder: string
}

export interface DownloadResult {
  readonly path: string
  readonly size: number
  /** Unknown for a folder's archive. */
  readonly sha256: string | null
  readonly wasThere: boolean
}

export interface DownloadParts {
  readonly retries: Retries
  readonly places: Places
  readonly watch: TransferProgress
}

/** Silence after which the connection counts as dead. */
const QUIET = 60 * SECOND

/** Resumes an earlier run. The final name appears once the file is whole, verified and durable. */
export async function downloadFile(
  { retries, places, watch }: DownloadParts,
  { address, arriving, name, folder }: Wanted,
): Promise<DownloadResult> {
  await mkdir(folder, { recursive: true })
  const describe = async () => {
    const now = await address()
    return now === null ? null : describeContent(now)
  }
  const present = async () => {
    const content = await describe()
    if (content === null) throw new AnswerError('The file is still being uploaded', 404, 'FILE_ARRIVING', 1)
    return content
  }
  const found = await retries.persist(TRANSFER, describe)
  if (
    found === null &&
    arriving !== null &&
    !(await downloadArriving({ retries, watch, folder }, arriving))
  ) {
    throw new ClientError('whoever was sending it has given up.')
  }
  const content = found ?? (await retries.persist(TRANSFER, present))
  const place = await places.take(folder, name ?? content.name ?? 'download', content)
  const { size, sha256 } = content
  if (place.isThere) return { path: place.path, size, sha256, wasThere: true }
  const part = join(folder, partName(basename(place.path), tagOf(content)))
  // The rest is fetched below, and the whole verified.
  if (arriving !== null) await rename(arrivingPart(folder, arriving), part).catch(unlessMissing)
  const transfer = watch.begin(place.path, size, 0)
  // Without a validator an earlier run's bytes cannot be trusted.
  const fresh = content.etag === null ? constants.O_TRUNC : 0
  const file = await openPart(part, fresh)
  try {
    const received = await hashedPart(file, size)
    let isFirst = true
    await retries.persist(
      TRANSFER,
      async () => {
        const now = isFirst ? content : await present()
        isFirst = false
        if (now.etag !== content.etag || now.size !== size) {
          throw new ClientError(
            `${place.path} changed on the server; run the command again to have it as it is now.`,
          )
        }
        await receiveWhole(now, received, transfer)
      },
      () => received.position(),
    )
    await file.sync()
  } finally {
    transfer.end()
    await file.close()
  }
  const path = await places.settle(part, place)
  await syncFolder(dirname(path))
  return { path, size, sha256, wasThere: false }
}

/** An earlier run's bytes may be damaged, for example by a power cut: then all is fetched again. */
async function receiveWhole(
  content: RemoteContent,
  received: ReceivedBytes,
  transfer: WatchedTransfer,
): Promise<void> {
  for (const isLast of [false, true]) {
    if (received.position() < content.size) await receive(content, received, transfer)
    if (content.sha256 === null || received.sha256() === content.sha256) return
    await received.clear()
    if (isLast) {
      const { origin } = new URL(content.url)
      throw new ClientError(`what came from ${origin} is not the file: its SHA-256 is another.`)
    }
  }
}

async function receive(
  content: RemoteContent,
  received: ReceivedBytes,
  transfer: WatchedTransfer,
): Promise<void> {
  const idle = idleTimeout(QUIET)
  const { origin } = new URL(content.url)
  try {
    const response = await openContent(content, received.position(), idle.signal)
    if (!continues(response, received.position())) await received.clear()
    transfer.at(received.position())
    const { body } = response
    if (body === null) return
    await asConnectionErrors(origin, async () => {
      for await (const bytes of chunksUnlessAborted(idle.signal, body)) {
        idle.restart()
        if (received.position() + bytes.length > content.size) throw new Error('more came than was announced')
        await received.append(bytes).catch((error) => {
          throw new ClientError(
            `what came could not be written: ${error instanceof Error ? error.message : error}`,
          )
        })
        transfer.at(received.position())
      }
    })
  } finally {
    idle.stop()
  }
  if (received.position() < content.size) {
    throw new ConnectionError('the connection ended too early', { passes: true, isUnsent: false })
  }
}

function tagOf({ etag }: RemoteContent): string {
  return new Bun.CryptoHasher('sha256')
    .update(etag ?? '')
    .digest('hex')
    .slice(0, 12)
}

function unlessMissing(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ENOENT') throw error
}

export interface ArrivingFile {
  readonly slug: string
  /** From `from` on, as they come; null once the file is there. Throws AnswerError while there are none. */
  bytes(from: number, signal: AbortSignal): Promise<Response | null>
}

/** Stays after the command was stopped. */
export function arrivingPart(folder: string, { slug }: Pick<ArrivingFile, 'slug'>): string {
  return join(folder, partName(localName(slug), 'arriving'))
}

interface Following {
  readonly retries: Retries
  readonly watch: TransferProgress
  readonly folder: string
}

/** Until the file is there. The bytes are neither verified nor durable, and the end may be missing. */
export async function downloadArriving(
  { retries, watch, folder }: Following,
  arriving: ArrivingFile,
): Promise<boolean> {
  const part = arrivingPart(folder, arriving)
  let transfer: WatchedTransfer | null = null
  const file = await openPart(part, 0)
  try {
    const received = await hashedPart(file, Number.POSITIVE_INFINITY)
    await retries.persist(
      TRANSFER,
      () =>
        whenSomethingIsHere(retries, () =>
          receiveArriving(arriving, received, (response) => {
            transfer ??= watch.begin(
              nameIn(response) ?? arriving.slug,
              wholeSize(response),
              received.position(),
            )
            return transfer
          }),
        ),
      () => received.position(),
    )
    return true
  } catch (error) {
    if (!isAnswer(error, 404, 'FILE_NOT_FOUND')) throw error
    await rm(part, { force: true })
    return false
  } finally {
    endOf(transfer)
    await file.close()
  }
}

/** A store may show nothing of an upload until it is whole, for hours: no outage. */
async function whenSomethingIsHere(
  retries: Pick<Retries, 'wait'>,
  attempt: () => Promise<void>,
): Promise<void> {
  for (;;) {
    try {
      return await attempt()
    } catch (error) {
      if (!(error instanceof AnswerError) || error.code !== 'FILE_ARRIVING') throw error
      await retries.wait((error.retryAfter ?? 1) * SECOND)
    }
  }
}

async function receiveArriving(
  arriving: ArrivingFile,
  received: ReceivedBytes,
  begin: (response: Response) => WatchedTransfer,
): Promise<void> {
  const idle = idleTimeout(QUIET)
  try {
    const response = await arriving.bytes(received.position(), idle.signal)
    if (response === null) return
    if (!continues(response, received.position())) await received.clear()
    const transfer = begin(response)
    const { body } = response
    if (body === null) return
    const size = wholeSize(response)
    await asConnectionErrors(response.url, async () => {
      for await (const bytes of chunksUnlessAborted(idle.signal, body)) {
        idle.restart()
        await received.append(bytes)
        transfer.at(received.position())
      }
    })
    if (size !== null && received.position() < size) {
      throw new ConnectionError('the connection ended too early', { passes: true, isUnsent: false })
    }
  } finally {
    idle.stop()
  }
}

function endOf(transfer: WatchedTransfer | null): void {
  transfer?.end()
}

function nameIn({ headers }: Response): string | null {
  return dispositionName(headers.get('content-disposition'))
}

function wholeSize({ headers }: Response): number | null {
  const size =
    /^bytes \d+-\d+\/(\d+)$/.exec(headers.get('content-range') ?? '')?.[1] ?? headers.get('content-length')
  return wholeNumber(size)
}

export interface ReceivedBytes {
  position(): number
  append(bytes: Uint8Array): Promise<void>
  clear(): Promise<void>
  sha256(): string
}

const PIECE = 1024 * 1024

export async function hashedPart(file: FileHandle, size: number): Promise<ReceivedBytes> {
  let hash = new Bun.CryptoHasher('sha256')
  let position = 0
  const { size: left } = await file.stat()
  if (left > size) await file.truncate(0)
  else {
    const piece = new Uint8Array(PIECE)
    for (;;) {
      const { bytesRead } = await file.read(piece, 0, PIECE, position)
      if (bytesRead === 0) break
      hash.update(piece.subarray(0, bytesRead))
      position += bytesRead
    }
  }
  return {
    position: () => position,
    async append(bytes) {
      for (let written = 0; written < bytes.length; ) {
        const { bytesWritten } = await file.write(bytes, written, bytes.length - written, position + written)
        written += bytesWritten
      }
      hash.update(bytes)
      position += bytes.length
    },
    async clear() {
      await file.truncate(0)
      hash = new Bun.CryptoHasher('sha256')
      position = 0
    },
    sha256: () => hash.copy().digest('hex'),
  }
}

/** Throws ClientError for links and special files: a link could point at another file of the user. */
export async function openPart(path: string, flags: number): Promise<FileHandle> {
  const how = constants.O_RDWR | constants.O_CREAT | constants.O_NOFOLLOW | constants.O_NONBLOCK
  // Truncated only once it is known to be ours.
  const file = await open(path, how).catch((error: NodeJS.ErrnoException) => {
    throw error.code === 'ELOOP' ? foreignPart(path) : error
  })
  const found = await file.stat()
  if (found.isFile() && found.nlink === 1) {
    if ((flags & constants.O_TRUNC) !== 0) await file.truncate(0)
    return file
  }
  await file.close()
  throw foreignPart(path)
}

function foreignPart(path: string): ClientError {
  return new ClientError(`${path} is a link or no plain file; remove it and run the command again.`)
}
