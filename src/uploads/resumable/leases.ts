import type { Nodes } from '../../core/nodes/nodes.ts'
import { nodeExists } from '../../core/nodes/nodes.ts'
import type { Database } from '../../database/database.ts'
import { type Clock, sleep } from '../../domain/clock.ts'
import { Refusal } from '../../domain/errors.ts'
import type { NodeId, UploadId } from '../../domain/ids.ts'
import { isGone } from '../../files/folders/folders.rows.ts'
import { folderNotFound } from '../../files/folders/places.ts'
import { uploadInterrupted } from '../refusals.ts'
import { acquireLease, releaseLease, requestRelease, type UploadRow, uploadById } from '../uploads.rows.ts'

/** Exclusive over all nodes. */
export class AppendLease {
  readonly upload: UploadId
  /** Every record names it: a writer taken for dead records nothing. */
  readonly number: number
  readonly #nodes: Nodes
  readonly #node: NodeId
  #isRecorded = true

  constructor(upload: UploadId, number: number, nodes: Nodes, node: NodeId) {
    this.upload = upload
    this.number = number
    this.#nodes = nodes
    this.#node = node
  }

  /** Call before every externally visible step. Throws Refusal when this node may have been taken for dead. */
  assertHeld(): void {
    if (this.#nodes.id() !== this.#node || !this.#nodes.isSurelyAlive()) throw uploadInterrupted()
  }

  markReleased(): void {
    this.#isRecorded = false
  }

  isRecorded(): boolean {
    return this.#isRecorded
  }
}

export interface Interruptible {
  isIdle(): boolean
  stop(): void
}

interface Running {
  readonly holder: Interruptible
  readonly over: Promise<void>
}

/** Milliseconds. */
const PATIENCE = 3000
const LOOK_AGAIN = 50

/** Seconds. */
const LOCKED_RETRY = 1

export class AppendLeases {
  readonly #db: Database
  readonly #nodes: Nodes
  readonly #clock: Clock
  readonly #report: (error: unknown) => void
  readonly #running = new Map<UploadId, Running>()
  readonly #unreleased = new Map<UploadId, number>()

  constructor(parts: { db: Database; nodes: Nodes; clock: Clock; report: (error: unknown) => void }) {
    this.#db = parts.db
    this.#nodes = parts.nodes
    this.#clock = parts.clock
    this.#report = parts.report
  }

  /**
   * Ends a lease whose client is gone or quiet, ignores a dead node's, and waits a while for others. Throws Refusal
   * UPLOAD_LOCKED or UPLOAD_NOT_FOUND.
   */
  async whenFree(upload: UploadId): Promise<UploadRow> {
    const deadline = this.#clock.monotonic() + PATIENCE
    for (;;) {
      const row = await uploadById(this.#db, upload)
      if (row === undefined) throw uploadNotFound()
      const isFree = row.node === null && !this.#running.has(upload)
      if (isFree || row.state !== 'uploading') return row
      await this.#hasten(row)
      if (this.#clock.monotonic() > deadline) throw locked()
      await sleep(this.#clock.timers, LOOK_AGAIN)
    }
  }

  /** Throws Refusal UPLOAD_LOCKED, and FOLDER_NOT_FOUND while the upload's folder is deleted or in the bin. */
  async run<T>(row: UploadRow, holder: Interruptible, work: (lease: AppendLease) => Promise<T>): Promise<T> {
    if (this.#running.has(row.id)) throw locked()
    const over = Promise.withResolvers<void>()
    this.#running.set(row.id, { holder, over: over.promise })
    try {
      const node = this.#nodes.id()
      if (!(await acquireLease(this.#db, row, node))) throw await this.#refusalOf(row)
      const lease = new AppendLease(row.id, row.sitting + 1, this.#nodes, node)
      try {
        return await work(lease)
      } finally {
        if (lease.isRecorded()) await this.#release(lease)
      }
    } finally {
      this.#running.delete(row.id)
      over.resolve()
    }
  }

  isRunning(upload: UploadId): boolean {
    return this.#running.has(upload)
  }

  /** Returns once this node has no lease on the upload. */
  async whenOver(upload: UploadId): Promise<void> {
    await this.#running.get(upload)?.over
  }

  /** Ends even an active lease; returns when it is over. */
  async stop(upload: UploadId): Promise<void> {
    const here = this.#running.get(upload)
    here?.holder.stop()
    await here?.over
  }

  async releaseLeft(): Promise<void> {
    for (const [upload, number] of this.#unreleased) {
      await releaseLease(this.#db, upload, number)
      this.#unreleased.delete(upload)
    }
  }

  async #refusalOf({ folder_id }: UploadRow): Promise<Refusal> {
    return (await isGone(this.#db, folder_id)) ? folderNotFound() : locked()
  }

  async #release({ upload, number }: AppendLease): Promise<void> {
    try {
      await releaseLease(this.#db, upload, number)
    } catch (error) {
      this.#unreleased.set(upload, number)
      this.#report(error)
    }
  }

  async #hasten({ id, sitting, node }: UploadRow): Promise<void> {
    const here = this.#running.get(id)
    if (here !== undefined) {
      if (here.holder.isIdle()) here.holder.stop()
    } else if (node === this.#nodes.id() || node === null || !(await nodeExists(this.#db, node))) {
      await releaseLease(this.#db, id, sitting)
    } else {
      await requestRelease(this.#db, id, sitting)
    }
  }
}

export function uploadNotFound(): Refusal {
  return new Refusal('UPLOAD_NOT_FOUND', 'There is no such upload; start a new one')
}

export function locked(): Refusal {
  return new Refusal('UPLOAD_LOCKED', 'Somebody else is writing to this upload; try again', LOCKED_RETRY)
}
