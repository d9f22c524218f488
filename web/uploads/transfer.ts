import { afterBegin, isStuck, NOT_STUCK } from '../../src/client/policy/chunk-policy.ts'
import { RequestFailure } from './answers.ts'
import type { KeptChunkSize } from './chunk-size.ts'
import type { KeptUpload, KeptUploads } from './kept-uploads.ts'
import type { Line } from './line.ts'
import { sendLocalFile } from './send-file.ts'
import {
  announceUpload,
  askForOffset,
  askForUpload,
  type Destination,
  takeBack,
  type UploadOffset,
} from './server.ts'
import type { UploadTurns } from './turns.ts'
import { judge, type Reason, type UploadProblem } from './verdict.ts'

/** What all uploads of the page share. */
export interface TransferWay {
  readonly to: Destination
  readonly kept: KeptUploads
  readonly chunks: KeptChunkSize
  /** Bytes that one file may have. */
  readonly limit: number
  /**
   * Uploads with a link of which nothing has been sent yet: the server allows an address only so many, and makes it wait
   * for long.
   */
  readonly ahead: UploadTurns
  /** Making links and sending bytes are waited for apart: a used-up limit of links does not hold bytes back. */
  readonly creating: { readonly line: Line; readonly turns: UploadTurns }
  readonly sending: { readonly line: Line; readonly turns: UploadTurns }
}

/** What is told on the way. */
export interface TransferListener {
  stage(stage: 'starting' | 'queued' | 'sending' | 'processing'): void
  waiting(reason: Reason, until: number): void
  link(link: string): void
  sent(bytes: number): void
}

/** The upload is over, and why. */
export class UploadOver extends Error {
  override readonly name = 'UploadOver'

  constructor(readonly problem: UploadProblem) {
    super(problem.kind)
  }
}

/** Milliseconds between two looks at an upload that the server is about to store: the first pause, and the longest. */
const PROCESSING_PAUSE = { first: 250, longest: 2000 }

/** One upload on its way to its end, however often it is interrupted. */
export class Transfer {
  readonly #way: TransferWay
  readonly #id: string
  readonly #signal: AbortSignal
  readonly #listener: TransferListener
  #stuckness = NOT_STUCK
  /** It was created just now and nothing was sent, so that nobody has to be asked how far it is. */
  #isFresh = false
  /** Ends its turn in `ahead`. */
  #hasBegun = () => {}

  /** `id`: of an upload that is kept. */
  constructor(way: TransferWay, id: string, signal: AbortSignal, listener: TransferListener) {
    this.#way = way
    this.#id = id
    this.#signal = signal
    this.#listener = listener
  }

  /**
   * Brings the upload to its end: `done` means that the file is safe on the server's disk, `stopped` that the signal was
   * aborted. Throws UploadOver.
   */
  async run(): Promise<'done' | 'stopped'> {
    try {
      for (;;) {
        const isCreated = this.#kept()?.created != null
        const end = await (isCreated ? this.#bringOver() : this.#begin())
        if (end === 'done' || end === 'stopped') return end
        if (end === 'anew') this.#loseAddress()
      }
    } finally {
      this.#hasBegun()
    }
  }

  async #begin(): Promise<'begun' | 'stopped'> {
    this.#listener.stage('queued')
    const { ahead, creating } = this.#way
    this.#hasBegun()
    this.#hasBegun = (await ahead.take(this.#signal)) ?? (() => {})
    const { line, turns } = creating
    const turn = await turns.take(this.#signal)
    if (turn !== null) this.#listener.stage('starting')
    try {
      const created = await this.#persist(line, () => this.#create())
      if (created === null || created === 'anew') return 'stopped'
      this.#listener.link(created.link)
      return 'begun'
    } finally {
      turn?.()
    }
  }

  /** Null when it was given up meanwhile. */
  async #create() {
    const { to, kept } = this.#way
    const upload = this.#kept()
    if (upload === null) return null
    const created = await announceUpload(to, upload)
    if (this.#kept() !== null) {
      kept.setCreated(this.#id, created)
      // What is empty is stored without a further request, and the answer may have come before that.
      this.#isFresh = upload.size > 0
      return created
    }
    await takeBack(to, created)
    return null
  }

  async #bringOver(): Promise<'done' | 'anew' | 'stopped'> {
    this.#listener.stage('queued')
    const { line, turns } = this.#way.sending
    const turn = await turns.take(this.#signal)
    this.#stuckness = NOT_STUCK
    try {
      return (await this.#persist(line, () => this.#attempt())) ?? 'stopped'
    } finally {
      turn?.()
    }
  }

  /** Asks how far it is unless that is known, sends the rest, and sees it stored. */
  async #attempt(): Promise<'done' | 'stopped'> {
    const { to, sending } = this.#way
    const upload = this.#kept()
    if (upload?.created == null || upload.file === null) return 'stopped'
    const { address } = upload.created
    const isFresh = this.#isFresh
    this.#isFresh = false
    if (!isFresh) {
      const seen = await askForUpload(to, address)
      sending.line.works()
      if (seen.status !== 'uploading') return this.#seeStored(upload, address, seen)
    }
    const offset = isFresh ? 0 : await askForOffset(to, address)
    await this.#send(upload.file, address, offset)
    if (this.#signal.aborted) return 'stopped'
    // The answer to the last byte comes when the file is stored.
    if (offset < upload.size) return 'done'
    return this.#seeStored(upload, address, await askForUpload(to, address))
  }

  async #send(file: Blob, address: string, offset: number): Promise<void> {
    const { to, chunks } = this.#way
    this.#sent(offset)
    this.#listener.stage('sending')
    this.#stuckness = afterBegin(this.#stuckness, offset)
    if (isStuck(this.#stuckness)) {
      chunks.refused(Math.min(chunks.current(), file.size - offset))
      this.#stuckness = NOT_STUCK
    }
    await sendLocalFile(file, {
      address,
      headers: to.headers,
      offset,
      chunkSize: () => chunks.current(),
      signal: this.#signal,
      onSent: (bytes) => this.#sent(bytes),
    })
  }

  async #seeStored(upload: KeptUpload, address: string, first: UploadOffset): Promise<'done' | 'stopped'> {
    let seen = first
    let pause = PROCESSING_PAUSE.first
    while (seen.status === 'processing' && !this.#signal.aborted) {
      this.#listener.sent(upload.size)
      this.#listener.stage('processing')
      await rest(pause, this.#signal)
      pause = Math.min(PROCESSING_PAUSE.longest, pause * 2)
      seen = await askForUpload(this.#way.to, address)
    }
    if (seen.status === 'failed') {
      this.#loseAddress()
      throw new UploadOver({ kind: 'not-stored' })
    }
    if (seen.status === 'completed') return 'done'
    if (this.#signal.aborted) return 'stopped'
    // It was all sent, and is not all there: whoever answered was not the server.
    throw new RequestFailure(null)
  }

  /** Asks until there is an answer; null when the signal was aborted. */
  async #persist<T>(line: Line, ask: () => Promise<T>): Promise<T | 'anew' | null> {
    for (;;) {
      await line.open(this.#signal)
      if (this.#signal.aborted) return null
      try {
        const answer = await ask()
        line.works()
        return answer
      } catch (error) {
        if (!(error instanceof RequestFailure)) throw error
        if (this.#signal.aborted) return null
        if ((await this.#settle(line, error)) === 'anew') return 'anew'
      }
    }
  }

  /** Does what the failure calls for; returns when it may be tried again. */
  async #settle(line: Line, { answer }: RequestFailure): Promise<'again' | 'anew'> {
    if (answer === null) await assertReadable(this.#kept())
    const verdict = judge(answer, {
      limit: this.#way.limit,
      isOnline: navigator.onLine,
      byLink: this.#way.to.link !== undefined,
    })
    switch (verdict.kind) {
      case 'anew':
        return 'anew'
      case 'over':
        throw new UploadOver(verdict.problem)
      case 'smaller':
        if (!this.#sendsLess()) throw new UploadOver({ kind: 'proxy' })
        return 'again'
      case 'again':
        if (answer?.status === 409 || answer?.status === 423) {
          // It concerns this upload alone: an earlier connection has not been given up yet.
          await rest((verdict.seconds ?? 1) * 1000, this.#signal)
        } else {
          this.#listener.waiting(verdict.reason, line.failed(verdict.seconds))
        }
        return 'again'
    }
  }

  /** A body was refused as too large; false when less is no use. */
  #sendsLess(): boolean {
    const { chunks } = this.#way
    const upload = this.#kept()
    return upload === null || chunks.refused(Math.min(chunks.current(), upload.size))
  }

  /** It has to begin anew, which it cannot when only whoever began it knows where it was to go. */
  #loseAddress(): void {
    if (this.#kept()?.created?.isTakenOver) throw new UploadOver({ kind: 'expired' })
    this.#way.kept.setCreated(this.#id, null)
  }

  #sent(bytes: number): void {
    if (bytes > 0) this.#hasBegun()
    this.#listener.sent(bytes)
    this.#way.kept.noteSent(this.#id, bytes)
  }

  #kept(): KeptUpload | null {
    return this.#way.kept.find(this.#id)
  }
}

/** A file that can no longer be read looks to the sender as a network that is gone. Throws UploadOver. */
async function assertReadable(upload: KeptUpload | null): Promise<void> {
  try {
    await upload?.file?.slice(0, 1).arrayBuffer()
  } catch {
    throw new UploadOver({ kind: 'changed' })
  }
}

/** Resolves after so many milliseconds, or when `signal` is aborted. */
function rest(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', end)
      resolve()
    }
    const timer = setTimeout(end, milliseconds)
    signal.addEventListener('abort', end)
  })
}
