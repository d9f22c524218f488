import { constants } from 'node:fs'
import { mkdir, rename } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { chunksUnlessAborted } from '../domain/abort.ts'
import { SECOND } from '../domain/clock.ts'
import { AnswerError, ClientError, ConnectionError } from './failure.ts'
import { asConnectionErrors, idleTimeout } from './http.ts'
import { partName } from './local-names.ts'
import { openPart } from './part-file.ts'
import type { Places } from './places.ts'
import { TRANSFER } from './policy/retry-policy.ts'
import { hashedPart, type ReceivedBytes } from './received.ts'
import { type ArrivingFile, arrivingPart, downloadArriving } from './receiving/arriving.ts'
import {
  type ContentAddress,
  continues,
  describeContent,
  openContent,
  type RemoteContent,
} from './remote-content.ts'
import type { Retries } from './retries.ts'
import { syncFolder } from './sync-folder.ts'
import type { TransferProgress, WatchedTransfer } from './transfer-progress.ts'

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
