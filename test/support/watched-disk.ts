/** Sees, and can fail, every sync and rename that this process asks for through `node:fs/promises`. */
import { spyOn } from 'bun:test'
import { readlinkSync } from 'node:fs'
import * as files from 'node:fs/promises'

export interface Step {
  readonly how: 'sync' | 'datasync' | 'rename'
  /** Of the file or folder, absolute; for a rename, of where it goes. */
  readonly path: string
}

export interface WatchedDisk {
  /** Every step that was asked for, in order, the failed ones too. */
  readonly asked: readonly Step[]
  /** Runs before each step and may wait; what it throws is what the step fails with, and nothing is done then. */
  before: (step: Step) => void | Promise<void>
  [Symbol.dispose](): void
}

/** Ends when it goes out of scope. One at a time. What the database does by itself is not seen. */
export async function watchDisk(): Promise<WatchedDisk> {
  const { rename } = files
  // The class of file handles has no name to import it by.
  const handle = await files.open('/dev/null')
  const prototype: files.FileHandle = Object.getPrototypeOf(handle)
  await handle.close()
  const asked: Step[] = []
  const watched: WatchedDisk = {
    asked,
    before() {},
    [Symbol.dispose]() {
      for (const spy of spies) spy.mockRestore()
    },
  }
  const about = async (step: Step) => {
    asked.push(step)
    await watched.before(step)
  }
  const spySync = (how: 'sync' | 'datasync') => {
    const original = prototype[how]
    return spyOn(prototype, how).mockImplementation(async function (this: files.FileHandle) {
      await about({ how, path: readlinkSync(`/proc/self/fd/${this.fd}`) })
      await original.call(this)
    })
  }
  const spies = [
    spySync('sync'),
    spySync('datasync'),
    spyOn(files, 'rename').mockImplementation(async (from, to) => {
      await about({ how: 'rename', path: to.toString() })
      await rename(from, to)
    }),
  ]
  return watched
}

/** As the system gives it when the disk cannot do what it was asked. */
export function inputOutputError(): Error {
  return Object.assign(new Error('EIO: i/o error'), { code: 'EIO', errno: -5 })
}
