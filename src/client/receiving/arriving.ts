import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { chunksUnlessAborted } from '../../domain/abort.ts'
import { SECOND } from '../../domain/clock.ts'
import { wholeNumber } from '../../domain/ids.ts'
import { AnswerError, ConnectionError, isAnswer } from '../failure.ts'
import { asConnectionErrors, idleTimeout } from '../http.ts'
import { localName, partName } from '../local-names.ts'
import { openPart } from '../part-file.ts'
import { TRANSFER } from '../policy/retry-policy.ts'
import { hashedPart, type ReceivedBytes } from '../received.ts'
import { continues, dispositionName } from '../remote-content.ts'
import type { Retries } from '../retries.ts'
import type { TransferProgress, WatchedTransfer } from '../transfer-progress.ts'

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

/** Silence after which another connection is tried. */
const QUIET = 60 * SECOND

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
