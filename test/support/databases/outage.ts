/** Outages of the database: reads work, writes fail until the outage is ended. */
import { Database } from 'bun:sqlite'
import { join } from 'node:path'
import type { SmallDisk } from '../storage/small-disk.ts'

/** Starts the outage; the returned function ends it. */
export type Outage = () => () => void

/** Another connection holds the write lock. */
export function lockedBySomebody(folder: string): Outage {
  return () => {
    const other = new Database(join(folder, 'holdfast.sqlite'))
    other.run('begin immediate')
    return () => {
      other.run('rollback')
      other.close()
    }
  }
}

/** The disk is completely full. */
export function fullDisk(disk: SmallDisk, folder: string): Outage {
  return () => {
    // Truncates the write-ahead log, which could otherwise be overwritten without more disk space.
    using other = new Database(join(folder, 'holdfast.sqlite'))
    other.run('pragma wal_checkpoint(truncate)')
    return disk.fill()
  }
}
