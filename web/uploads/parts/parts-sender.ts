import { NOT_STUCK, type StuckState } from '../../../src/client/policy/chunk-policy.ts'
import { HELD_BACK } from '../../../src/client/policy/last-bytes.ts'
import { lessIfStuck } from '../chunk-size.ts'
import { isUnchanged, type WatchedFile } from '../file-changes.ts'
import type { RequestRetries } from '../request-retries.ts'
import { sendNext } from '../send-file.ts'
import { fetchOffset, type UploadPart } from '../server.ts'
import type { TransferContext, TransferListener } from '../transfer-context.ts'

interface SentPart {
  readonly address: string
  bytes: Blob
  /** Durable bytes; null when the server has to be asked. */
  safe: number | null
  sent: number
  stuckState: StuckState
  isUnderWay: boolean
}

interface Lane {
  readonly ending: AbortController
  /** Waiting on one connection is not reported while others send. */
  isMoving: boolean
}

interface PartsSendingOptions {
  readonly way: TransferContext
  readonly watched: WatchedFile
  readonly parts: readonly UploadPart[]
  readonly tries: RequestRetries
  readonly listener: Pick<TransferListener, 'stage' | 'waiting'>
  readonly signal: AbortSignal
  /** Bytes of the whole file that were sent. */
  readonly onSent: (bytes: number) => void
}

/** In order, so that a concurrent reader is close behind. Each part is retried alone. */
export class PartsSender {
  readonly #options: PartsSendingOptions
  readonly #all: readonly SentPart[]
  /** The end of one part, sent when all else has arrived. */
  #heldBack: { readonly part: SentPart; readonly bytes: Blob } | null
  readonly #lanes = new Set<Lane>()
  #over = Promise.withResolvers<void>()
  #failure: { readonly error: unknown } | null = null
  #isGone = false
  #isWaiting = false

  constructor(options: PartsSendingOptions) {
    this.#options = options
    let from = 0
    this.#all = options.parts.map(({ address, length, offset }) => {
      const bytes = options.watched.file.slice(from, from + length)
      from += length
      return { address, bytes, safe: offset, sent: offset, stuckState: NOT_STUCK, isUnderWay: false }
    })
    const last = this.#all.findLast(isUnsent)
    this.#heldBack = last === undefined ? null : { part: last, bytes: last.bytes }
    if (last !== undefined) {
      last.bytes = last.bytes.slice(0, Math.max(last.sent, last.bytes.size - HELD_BACK))
    }
  }

  /** `gone`: the server has lost a part. Throws UploadOver, also when the file has changed. */
  async run(): Promise<'sent' | 'gone' | 'stopped'> {
    const { way, listener, signal } = this.#options
    const fit = () => this.#fit()
    signal.addEventListener('abort', fit)
    const unsubscribe = way.connections.subscribe(fit)
    try {
      this.#told()
      listener.stage('sending')
      await this.#send()
      if (this.#heldBack !== null && !this.#isEnding()) {
        const { part, bytes } = this.#heldBack
        this.#heldBack = null
        part.bytes = bytes
        await this.#send()
      }
    } finally {
      signal.removeEventListener('abort', fit)
      unsubscribe()
    }
    if (this.#failure !== null) throw this.#failure.error
    if (signal.aborted) return 'stopped'
    return this.#isGone ? 'gone' : 'sent'
  }

  #send(): Promise<void> {
    this.#over = Promise.withResolvers<void>()
    this.#fit()
    return this.#over.promise
  }

  #isEnding(): boolean {
    return this.#failure !== null || this.#isGone || this.#options.signal.aborted
  }

  #fit(): void {
    const most = this.#isEnding() ? 0 : this.#options.way.connections.each()
    for (const { ending } of [...this.#lanes].slice(most)) ending.abort()
    while (this.#lanes.size < most) {
      const part = this.#all.find((each) => isUnsent(each) && !each.isUnderWay)
      if (part === undefined) break
      void this.#sendPart(part)
    }
    if (this.#lanes.size === 0) this.#over.resolve()
  }

  async #sendPart(part: SentPart): Promise<void> {
    const { way, tries } = this.#options
    const lane: Lane = { ending: new AbortController(), isMoving: true }
    const { signal } = lane.ending
    this.#lanes.add(lane)
    part.isUnderWay = true
    try {
      const end = await tries.persist(way.sending.line, () => this.#sendNext(part, lane), {
        signal,
        waiting: (reason, until) => {
          lane.isMoving = false
          if ([...this.#lanes].some(({ isMoving }) => isMoving)) return
          this.#isWaiting = true
          this.#options.listener.waiting(reason, until)
        },
      })
      if (end === 'anew') this.#isGone = true
    } catch (error) {
      this.#failure ??= { error }
    }
    this.#lanes.delete(lane)
    part.isUnderWay = false
    this.#fit()
  }

  async #sendNext(part: SentPart, lane: Lane): Promise<void> {
    const { to, chunks } = this.#options.way
    const { address, bytes } = part
    const { signal } = lane.ending
    const offset = part.safe ?? (await fetchOffset(to, address))
    part.safe = offset
    part.sent = offset
    this.#told()
    if (offset >= bytes.size || signal.aborted) return
    part.stuckState = lessIfStuck(part.stuckState, offset, bytes.size - offset, chunks)
    part.safe = null
    part.safe = await sendNext(bytes, {
      ...{ address, headers: to.headers, offset, signal },
      chunkSize: () => chunks.current(),
      onSent: (sent) => {
        part.sent = sent
        this.#moves(lane)
      },
      isUnchanged: this.#heldBack === null ? () => isUnchanged(this.#options.watched) : null,
    })
  }

  #moves(lane: Lane): void {
    lane.isMoving = true
    if (this.#isWaiting) this.#options.listener.stage('sending')
    this.#isWaiting = false
    this.#told()
  }

  #told(): void {
    this.#options.onSent(this.#all.reduce((sum, { sent }) => sum + sent, 0))
  }
}

function isUnsent({ safe, bytes }: SentPart): boolean {
  return safe === null || safe < bytes.size
}
