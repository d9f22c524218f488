import { NOT_STUCK } from '../../src/client/policy/chunk-policy.ts'
import { MOST_ANEW, pauseBeforeAnew } from '../../src/client/policy/retry-policy.ts'
import { RequestFailure } from './answers.ts'
import { lessIfStuck } from './chunk-size.ts'
import { isUnchanged, type WatchedFile } from './file-changes.ts'
import type { KeptUpload } from './kept-uploads.ts'
import type { Line } from './line.ts'
import { Announcing } from './parts/announcing.ts'
import { PartsSender } from './parts/parts-sender.ts'
import { delay, RequestRetries } from './request-retries.ts'
import { continues } from './same-file.ts'
import { sendLocalFile } from './send-file.ts'
import {
  type BytesBefore,
  fetchParts,
  fetchResumePoint,
  fetchUpload,
  type UploadOffset,
  type UploadPart,
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
  readonly #announcing: Announcing
  #stuckState = NOT_STUCK
  /** Set right after creation: the offset is known to be 0. */
  #fresh: { readonly parts: readonly UploadPart[] | null } | null = null
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
    this.#announcing = new Announcing(way)
  }

  /** `done`: the file is durable on the server; `stopped`: the signal was aborted. Throws UploadOver. */
  async run(): Promise<'done' | 'stopped'> {
    const end = this.#way.connections.begin()
    try {
      return await this.#toItsEnd()
    } finally {
      end()
      this.#hasBegun()
    }
  }

  async #toItsEnd(): Promise<'done' | 'stopped'> {
    for (;;) {
      const isCreated = this.#kept()?.created != null
      const end = await (isCreated ? this.#bringOver() : this.#begin())
      if (end === 'done' || end === 'stopped') return end
      if (end === 'anew') await this.#beginAnew()
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
    const { created, parts } = await this.#announcing.announce(upload)
    if (this.#kept() !== null) {
      kept.setCreated(this.#id, created)
      // An empty file is stored by its creation, and a lost answer may have done that.
      this.#fresh = upload.size > 0 ? { parts } : null
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
    const fresh = this.#fresh
    this.#fresh = null
    if (fresh === null) {
      const seen = await fetchUpload(to, address)
      sending.line.works()
      if (seen.status !== 'uploading') return this.#seeStored(upload, address, seen)
    }
    const compares = !this.#isCompared
    const place =
      fresh === null
        ? await fetchResumePoint(to, address, compares)
        : { offset: 0, before: null, parts: null }
    const parts = fresh?.parts ?? (place.parts === null ? null : await fetchParts(to, place.parts, compares))
    if (!(await hasCome(upload.file, place, parts))) return this.#isOther(upload)
    this.#isCompared = true
    const watched = { file: upload.file, handle: upload.handle }
    if (parts === null) await this.#send(watched, address, place.offset)
    else await this.#sendParts(watched, parts)
    if (this.#signal.aborted) return 'stopped'
    // The answer to the last byte means stored, unless parts have to be concatenated.
    if (parts === null && place.offset < upload.size) return 'done'
    return this.#seeStored(upload, address, await fetchUpload(to, address))
  }

  /** A copy, or a file found again, is the wanted one, so the upload restarts. */
  #isOther({ origin, created }: KeptUpload): 'anew' {
    if (origin === 'given' || created?.isTakenOver) throw new UploadOver({ kind: 'other-content' })
    if (origin === 'chosen') throw new UploadOver({ kind: 'changed' })
    if (created !== null) void withdrawUpload(this.#way.to, created).catch(() => {})
    return 'anew'
  }

  async #send(watched: WatchedFile, address: string, offset: number): Promise<void> {
    const { to, chunks } = this.#way
    const { file } = watched
    this.#sent(offset)
    this.#listener.stage('sending')
    this.#stuckState = lessIfStuck(this.#stuckState, offset, file.size - offset, chunks)
    await sendLocalFile(file, {
      address,
      headers: to.headers,
      offset,
      chunkSize: () => chunks.current(),
      signal: this.#signal,
      onSent: (bytes) => this.#sent(bytes),
      isUnchanged: () => isUnchanged(watched),
    })
  }

  /** A lost part shows at the next look at the whole. */
  async #sendParts(watched: WatchedFile, parts: readonly UploadPart[]): Promise<void> {
    const sending = new PartsSender({
      way: this.#way,
      ...{ watched, parts, tries: this.#tries, listener: this.#listener, signal: this.#signal },
      onSent: (bytes) => this.#sent(bytes),
    })
    await sending.run()
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

/** Whether the server's bytes, of the whole or its parts, are this file's, as far as the server can tell. */
async function hasCome(
  file: Blob,
  place: { readonly offset: number; readonly before: BytesBefore | null },
  parts: readonly UploadPart[] | null,
): Promise<boolean> {
  if (parts === null) return continues(file, place.offset, place.before)
  let from = 0
  for (const { offset, length, before } of parts) {
    if (!(await continues(file, from + offset, before))) return false
    from += length
  }
  return true
}
