import { closeSync, fdatasync, fstatSync, fsyncSync, openSync, statSync } from 'node:fs'
import { dirname } from 'node:path'

/** Must not return: there are commits that cannot become durable. */
export type LogLost = (error: unknown) => never

export type LogSync = (descriptor: number, done: (error?: Error | null) => void) => void

/**
 * Write-ahead log under `synchronous = NORMAL`: commits are written, not synced. One sync, on a pool thread of the
 * runtime, makes all earlier commits durable.
 *
 * A failed sync is final: the kernel may have dropped the pages, and another sync would succeed.
 */
export class SqliteLog {
  readonly #descriptor: number
  readonly #lost: LogLost
  readonly #datasync: LogSync
  #committed = 0
  #synced = 0
  #isSyncing = false
  readonly #waiting: { readonly commits: number; readonly resolve: () => void }[] = []

  /** A connection must stay open until `close`: the last one to close removes the file. */
  constructor(database: string, lost: LogLost, datasync: LogSync = (...given) => fdatasync(...given)) {
    const path = `${database}-wal`
    this.#descriptor = openSync(path, 'r+')
    this.#lost = lost
    this.#datasync = datasync
    if (fstatSync(this.#descriptor).ino !== statSync(path).ino) throw new Error(`${path} was replaced`)
    // Another process may have created the file, and died before its name was durable.
    const folder = openSync(dirname(path), 'r')
    try {
      fsyncSync(this.#descriptor)
      fsyncSync(folder)
    } finally {
      closeSync(folder)
    }
  }

  noteCommit(): void {
    this.#committed += 1
  }

  /** Resolves once all recorded commits survive a power cut; null if they do. */
  durable(): Promise<void> | null {
    if (this.#synced === this.#committed) return null
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#waiting.push({ commits: this.#committed, resolve })
    this.#sync()
    return promise
  }

  async close(): Promise<void> {
    await this.durable()
    closeSync(this.#descriptor)
  }

  #sync(): void {
    if (this.#isSyncing) return
    this.#isSyncing = true
    const commits = this.#committed
    this.#datasync(this.#descriptor, (error) => {
      if (error !== null && error !== undefined) this.#lost(error)
      this.#isSyncing = false
      this.#synced = commits
      while (this.#waiting[0] !== undefined && this.#waiting[0].commits <= commits) {
        this.#waiting.shift()?.resolve()
      }
      if (this.#waiting.length > 0) this.#sync()
    })
  }
}
