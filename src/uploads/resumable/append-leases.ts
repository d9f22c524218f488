import { nodeExists } from '../../core/nodes/nodes.rows.ts'
import type { Nodes } from '../../core/nodes/nodes.ts'
import type { Database } from '../../database/database.ts'
import { type Clock, sleep } from '../../domain/clock.ts'
import { Refusal } from '../../domain/errors.ts'
import type { NodeId, UploadId } from '../../domain/ids.ts'
import { isGone } from '../../files/folders/folders.rows.ts'
import { folderNotFound } from '../../files/folders/places.ts'
import { uploadInterrupted } from '../interrupted.ts'
import { type UploadRow, uploadById } from '../uploads.rows.ts'
import { acquireLease, releaseLease, requestRelease } from './append-leases.rows.ts'

/** The right to write to an upload, which one writer has at a time, over all nodes. */
export class AppendLease {
  readonly upload: UploadId
  /** Its number in the row. What is recorded names it, so that a writer who was taken for dead records nothing. */
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

  /** To be called before every step that others would see. Throws Refusal when this node may have been taken for dead. */
  assertHeld(): void {
    if (this.#nodes.id() !== this.#node || !this.#nodes.isSurelyAlive()) throw uploadInterrupted()
  }

  /** Notes that the row does not name the lease any more, so that nothing is left to release. */
  markReleased(): void {
    this.#isRecorded = false
  }

  /** Whether the row may still name the lease. */
  isRecorded(): boolean {
    return this.#isRecorded
  }
}

/** What others may do to the holder of a lease. */
export interface Interruptible {
  /** Whether its sender is gone or keeps quiet. */
  isIdle(): boolean
  /** Lets it keep what has come, and end. */
  stop(): void
}

interface Running {
  readonly holder: Interruptible
  readonly over: Promise<void>
}

/** Milliseconds for which somebody else's lease is waited for. */
const PATIENCE = 3000
const LOOK_AGAIN = 50

/** Seconds until a locked upload is worth another try. */
const LOCKED_RETRY = 1

/** The leases of uploads, and those of them that this node holds. */
export class AppendLeases {
  readonly #db: Database
  readonly #nodes: Nodes
  readonly #clock: Clock
  readonly #report: (error: unknown) => void
  readonly #running = new Map<UploadId, Running>()
  /** Leases that are over and that the database could not be told of. */
  readonly #unreleased = new Map<UploadId, number>()

  constructor(parts: { db: Database; nodes: Nodes; clock: Clock; report: (error: unknown) => void }) {
    this.#db = parts.db
    this.#nodes = parts.nodes
    this.#clock = parts.clock
    this.#report = parts.report
  }

  /**
   * The upload when nobody writes to it. A lease whose sender is gone or quiet is ended, one whose node is dead is over;
   * for others it is waited a while. Throws Refusal UPLOAD_LOCKED or UPLOAD_NOT_FOUND.
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

  /**
   * Runs the work as the only writer. Throws Refusal UPLOAD_LOCKED when somebody else was faster, and FOLDER_NOT_FOUND
   * while the upload's folder is deleted or in the bin.
   */
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

  /** Returns when no lease of this node is left on the upload. */
  async whenOver(upload: UploadId): Promise<void> {
    await this.#running.get(upload)?.over
  }

  /** Ends a lease of this node, also a lively one, and returns when it is over. */
  async stop(upload: UploadId): Promise<void> {
    const here = this.#running.get(upload)
    here?.holder.stop()
    await here?.over
  }

  /** Releases leases that are over and that the database could not be told of then. */
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

  /** Does what can be done for the lease to end. */
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
