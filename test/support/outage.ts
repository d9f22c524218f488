/** Ways in which a database that can be read takes no change, and ends doing so when it is told to. */
import { Database } from 'bun:sqlite'
import { join } from 'node:path'
import type { SmallDisk } from './small-disk.ts'

/** From now on nothing can be written; returns what ends that. */
export type Outage = () => () => void

/** Somebody else has the write lock. */
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

/** The disk has not one page left. */
export function fullDisk(disk: SmallDisk, folder: string): Outage {
  return () => {
    // A log that is there already could be written over again without taking more of the disk.
    using other = new Database(join(folder, 'holdfast.sqlite'))
    other.run('pragma wal_checkpoint(truncate)')
    return disk.fill()
  }
}
