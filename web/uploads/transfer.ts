import { MOST_ANEW, NOT_STUCK, pauseBeforeAnew } from '../../src/client/policy/upload-policy.ts'
import { RequestFailure } from './answers.ts'
import { lessIfStuck } from './chunk-size.ts'
import { isUnchanged, type WatchedFile } from './file-changes.ts'
import type { KeptUpload } from './kept-uploads.ts'
import type { Line } from './line.ts'
import { delay, RequestRetries } from './request-retries.ts'
import { continues } from './same-file.ts'
import { sendLocalFile } from './send-file.ts'
import {
  announceUpload,
  fetchPieces,
  fetchUpload,
  type Piece,
  type UploadOffset,
  withdrawUpload,
} from './server.ts'
import { type TransferContext, type TransferListener, UploadOver } from './transfer-context.ts'

/** Milliseconds between two checks of an upload that the server is about to store. */
const PROCESSING_PAUSE = { first: 250, longest: 2000 }

/** One upload until its end, however often it is interrupted. */
export class Transfer {
  readonly #way: TransferContext
  readonly #id: string
  readonly #signal: AbortSignal
  readonly #listener: TransferListener
  readonly #tries: RequestRetries
  #stuckState = NOT_STUCK
  /** Set right after creation: the offset is known to be 0. */
  #isFresh = false
  #anew = 0
  #hasSentAll = false
  /** Whether the server's bytes are known to be this file's. */
  #isCompared = false
  #hasBegun = () => {}

  constructor(way: TransferContext, id: string, signal: AbortSignal, listener: TransferListener) {
    this.#way = way
    this.#id = id
    this.#signal = signal
    this.#listener = listener
    this.#tries = new RequestRetries(way, id)
  }

  /** `done`: the file is durable on the server; `stopped`: the signal was aborted. Throws UploadOver. */
  async run(): Promise<'done' | 'stopped'> {
    try {
      for (;;) {
        const isCreated = this.#kept()?.created != null
        const end = await (isCreated ? this.#bringOver() : this.#begin())
        if (end === 'done' || end === 'stopped') return end
        if (end === 'anew') await this.#beginAnew()
      }
    } finally {
      this.#hasBegun()
    }
  }

  /** A server that repeatedly discards an upload may never accept it. */
  async #beginAnew(): Promise<void> {
    this.#loseAddress()
    if (this.#anew === MOST_ANEW) throw new UploadOver({ kind: 'storage-refuses' })
    const pause = pauseBeforeAnew(this.#anew)
    this.#anew += 1
    // An expired upload restarts at once.
    if (!this.#hasSentAll && this.#anew === 1) return
    this.#listener.waiting('storage-away', Date.now() + pause)
    await delay(pause, this.#signal)
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

  /** Null when it was cancelled meanwhile. */
  async #create() {
    const { to, kept } = this.#way
    const upload = this.#kept()
    if (upload === null) return null
    await assertReadable(upload)
    const created = await announceUpload(to, upload)
    if (this.#kept() !== null) {
      kept.setCreated(this.#id, created)
      // An empty file is stored by its creation, and a lost answer may have done that.
      this.#isFresh = upload.size > 0
      return created
    }
    await withdrawUpload(to, created)
    return null
  }

  async #bringOver(): Promise<'done' | 'anew' | 'stopped'> {
    this.#listener.stage('queued')
    const { line, turns } = this.#way.sending
    const turn = await turns.take(this.#signal)
    this.#stuckState = NOT_STUCK
    try {
      return (await this.#persist(line, () => this.#attempt())) ?? 'stopped'
    } finally {
      turn?.()
    }
  }

  async #attempt(): Promise<'done' | 'stopped' | 'anew'> {
    const { to, sending } = this.#way
    const upload = this.#kept()
    if (upload?.created == null || upload.file === null) return 'stopped'
    const { address } = upload.created
    const isFresh = this.#isFresh
    this.#isFresh = false
    if (!isFresh) {
      const seen = await fetchUpload(to, address)
      sending.line.works()
      if (seen.status !== 'uploading') return this.#seeStored(upload, address, seen)
    }
    const { file, handle, size } = upload
    const pieces = isFresh
      ? [{ address, from: 0, length: size, offset: 0, before: null }]
      : await fetchPieces(to, address, size, !this.#isCompared)
    if (!(await hasCome(file, pieces))) return this.#isOther(upload)
    this.#isCompared = true
    const unsent = pieces.filter(({ offset, length }) => offset < length)
    await this.#send({ file, handle }, pieces, unsent)
    if (this.#signal.aborted) return 'stopped'
    // The answer to the last byte means stored, unless partial uploads have to be concatenated.
    if (pieces.length === 1 && unsent.length === 1) return 'done'
    return this.#seeStored(upload, address, await fetchUpload(to, address))
  }

  /** A copy, or a file found again, is the wanted one, so the upload restarts. */
  #isOther({ origin, created }: KeptUpload): 'anew' {
    if (origin === 'given' || created?.isTakenOver) throw new UploadOver({ kind: 'other-content' })
    if (origin === 'chosen') throw new UploadOver({ kind: 'changed' })
    if (created !== null) void withdrawUpload(this.#way.to, created).catch(() => {})
    return 'anew'
  }

  /** The last piece's last bytes store the file. */
  async #send(watched: WatchedFile, pieces: readonly Piece[], unsent: readonly Piece[]): Promise<void> {
    const { to, chunks } = this.#way
    let safe = pieces.reduce((sum, { offset }) => sum + offset, 0)
    this.#sent(safe)
    this.#listener.stage('sending')
    for (const piece of unsent) {
      const { address, from, length, offset } = piece
      this.#stuckState = lessIfStuck(this.#stuckState, safe, watched.file.size - safe, chunks)
      const before = safe - offset
      await sendLocalFile(watched.file.slice(from, from + length), {
        address,
        headers: to.headers,
        offset,
        chunkSize: () => chunks.current(),
        signal: this.#signal,
        onSent: (bytes) => this.#sent(before + bytes),
        isUnchanged: piece === unsent.at(-1) ? () => isUnchanged(watched) : null,
      })
      if (this.#signal.aborted) return
      safe = before + length
    }
  }

  async #seeStored(upload: KeptUpload, address: string, first: UploadOffset): Promise<'done' | 'stopped'> {
    let seen = first
    let pause = PROCESSING_PAUSE.first
    while (seen.status === 'processing' && !this.#signal.aborted) {
      this.#listener.sent(upload.size)
      this.#listener.stage('processing')
      await delay(pause, this.#signal)
      pause = Math.min(PROCESSING_PAUSE.longest, pause * 2)
      seen = await fetchUpload(this.#way.to, address)
    }
    if (seen.status === 'failed') {
      this.#loseAddress()
      throw new UploadOver({ kind: 'not-stored' })
    }
    if (seen.status === 'completed') return 'done'
    if (this.#signal.aborted) return 'stopped'
    // All was sent, yet bytes are missing: a proxy has answered.
    throw new RequestFailure(null)
  }

  #persist<T>(line: Line, ask: () => Promise<T>): Promise<T | 'anew' | null> {
    const { waiting } = this.#listener
    return this.#tries.persist(line, ask, { signal: this.#signal, waiting })
  }

  /** It must restart, which only the program that began it can: it alone knows the target. */
  #loseAddress(): void {
    if (this.#kept()?.created?.isTakenOver) throw new UploadOver({ kind: 'expired' })
    this.#way.kept.setCreated(this.#id, null)
  }

  #sent(bytes: number): void {
    if (bytes > 0 && bytes === this.#kept()?.size) this.#hasSentAll = true
    if (bytes > 0) this.#hasBegun()
    this.#listener.sent(bytes)
    this.#way.kept.noteSent(this.#id, bytes)
  }

  #kept(): KeptUpload | null {
    return this.#way.kept.find(this.#id)
  }
}

/** Checked before the link exists: a file in a chosen folder may be unreadable. Throws UploadOver. */
async function assertReadable({ file, size }: KeptUpload): Promise<void> {
  if (file === null || size === 0) return
  try {
    await file.slice(0, 1).arrayBuffer()
  } catch {
    throw new UploadOver({ kind: 'unreadable' })
  }
}

/** Whether the server's bytes are this file's, as far as the server can tell. */
async function hasCome(file: Blob, pieces: readonly Piece[]): Promise<boolean> {
  for (const { from, offset, before } of pieces) {
    if (!(await continues(file, from + offset, before))) return false
  }
  return true
}
