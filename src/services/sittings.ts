import { nodeExists } from '../database/nodes.ts'
import type { Db } from '../database/schema.ts'
import { askToEnd, endSitting, takeSitting } from '../database/upload-sittings.ts'
import { type UploadRow, uploadById } from '../database/uploads.ts'
import type { Clock } from '../domain/clock.ts'
import { Refusal } from '../domain/errors.ts'
import type { UploadId } from '../domain/ids.ts'
import type { Nodes } from './nodes.ts'
import { interrupted } from './room.ts'

/** One writer at work on an upload. */
export interface Sitting {
  readonly upload: UploadId
  /** Its number in the row. What is recorded names it, so that a writer who was taken for dead records nothing. */
  readonly number: number
  /** To be asked before every step that others would see. Throws Refusal when this node may have been taken for dead. */
  assertOurs(): void
  /** The row does not say any more that somebody writes: there is nothing to release. */
  released(): void
}

/** What others may do to a sitting. */
export interface Interruptible {
  /** Whether its sender is gone or keeps quiet. */
  isIdle(): boolean
  /** Lets it keep what has come, and end. */
  stop(): void
}

/** Whose turn it is to write to an upload: one at a time, over all nodes. */
export interface Sittings {
  /**
   * The upload as it is when nobody writes to it. A sitting whose sender is gone or quiet is ended, one whose node is
   * dead is over; for others it is waited a while. Throws Refusal UPLOAD_LOCKED or UPLOAD_NOT_FOUND.
   */
  whenFree(upload: UploadId): Promise<UploadRow>
  /** Runs the work as the only writer. Throws Refusal UPLOAD_LOCKED when somebody else was faster. */
  run<T>(row: UploadRow, sitting: Interruptible, work: (sitting: Sitting) => Promise<T>): Promise<T>
  isRunning(upload: UploadId): boolean
  /** Ends a sitting of this node, also a lively one, and returns when it is over. */
  stop(upload: UploadId): Promise<void>
  /** Tells the database of sittings that are over and that it could not be told of then. */
  releaseLeft(): Promise<void>
}

/** Milliseconds for which somebody else's sitting is waited for. */
const PATIENCE = 3000
const LOOK_AGAIN = 50

/** Seconds until a locked upload is worth another try. */
const LOCKED_RETRY = 1

export function createSittings(parts: {
  db: Db
  nodes: Nodes
  clock: Clock
  report: (error: unknown) => void
}): Sittings {
  const { db, nodes, clock, report } = parts
  const running = new Map<UploadId, Interruptible & { readonly over: Promise<void> }>()
  const unreleased = new Map<UploadId, number>()

  async function present(upload: UploadId): Promise<UploadRow> {
    const row = await uploadById(db, upload)
    if (row === undefined) throw uploadNotFound()
    return row
  }

  /** Does what can be done for the sitting to end. */
  async function hasten({ id, sitting, node }: UploadRow): Promise<void> {
    const here = running.get(id)
    if (here !== undefined) {
      if (here.isIdle()) here.stop()
    } else if (node === nodes.id() || node === null || !(await nodeExists(db, node))) {
      await endSitting(db, id, sitting)
    } else {
      await askToEnd(db, id, sitting)
    }
  }

  return {
    async whenFree(upload) {
      const deadline = clock.monotonic() + PATIENCE
      for (;;) {
        const row = await present(upload)
        const isFree = row.node === null && !running.has(upload)
        if (isFree || row.state !== 'uploading') return row
        await hasten(row)
        if (clock.monotonic() > deadline) throw locked()
        await Bun.sleep(LOOK_AGAIN)
      }
    },

    async run(row, sitting, work) {
      if (running.has(row.id)) throw locked()
      const over = Promise.withResolvers<void>()
      running.set(row.id, { ...sitting, over: over.promise })
      const node = nodes.id()
      const number = row.sitting + 1
      let isTaken = false
      try {
        if (!(await takeSitting(db, row, node))) throw locked()
        isTaken = true
        return await work({
          upload: row.id,
          number,
          assertOurs() {
            if (nodes.id() !== node || !nodes.isSurelyAlive()) throw interrupted()
          },
          released() {
            isTaken = false
          },
        })
      } finally {
        if (isTaken) {
          await endSitting(db, row.id, number).catch((error: unknown) => {
            unreleased.set(row.id, number)
            report(error)
          })
        }
        running.delete(row.id)
        over.resolve()
      }
    },

    isRunning: (upload) => running.has(upload),

    async stop(upload) {
      const here = running.get(upload)
      here?.stop()
      await here?.over
    },

    async releaseLeft() {
      for (const [upload, number] of unreleased) {
        await endSitting(db, upload, number)
        unreleased.delete(upload)
      }
    },
  }
}

export function uploadNotFound(): Refusal {
  return new Refusal('UPLOAD_NOT_FOUND', 'There is no such upload; start a new one')
}

export function locked(): Refusal {
  return new Refusal('UPLOAD_LOCKED', 'Somebody else is writing to this upload; try again', LOCKED_RETRY)
}
