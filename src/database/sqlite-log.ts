import { closeSync, fdatasync, fstatSync, fsyncSync, openSync, statSync } from 'node:fs'
import { dirname } from 'node:path'

/** Must not return: commits that nobody can make durable have been made. */
export type LogLost = (error: unknown) => never

/** `fdatasync` of `node:fs`, or what a test has in its place. */
export type LogSync = (descriptor: number, done: (error?: Error | null) => void) => void

/**
 * The write-ahead log of a database with `synchronous = NORMAL`, whose commits are written and not synced. One sync,
 * on a thread of the runtime's pool, makes all commits before it durable.
 *
 * A failed sync is final: the kernel may have dropped the pages, and another sync would succeed all the same.
 */
export class SqliteLog {
  readonly #descriptor: number
  readonly #lost: LogLost
  readonly #datasync: LogSync
  /** Number of commits, and how many of them are durable. */
  #committed = 0
  #synced = 0
  #isSyncing = false
  /** In the order of their numbers of commits. */
  readonly #waiting: { readonly commits: number; readonly resolve: () => void }[] = []

  /**
   * Opens the log of that database, of which a connection must be open until `close`: the last one to close removes
   * the file.
   */
  constructor(database: string, lost: LogLost, datasync: LogSync = (...given) => fdatasync(...given)) {
    const path = `${database}-wal`
    this.#descriptor = openSync(path, 'r+')
    this.#lost = lost
    this.#datasync = datasync
    if (fstatSync(this.#descriptor).ino !== statSync(path).ino) throw new Error(`${path} was replaced`)
    // Another process may have created the file, and may have ended before its name was durable.
    const folder = openSync(dirname(path), 'r')
    try {
      fsyncSync(this.#descriptor)
      fsyncSync(folder)
    } finally {
      closeSync(folder)
    }
  }

  /** Notes that the connection has committed something, or may have. */
  noteCommit(): void {
    this.#committed += 1
  }

  /** Resolves once every commit that was noted would survive a power cut; null when all of them would. */
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
