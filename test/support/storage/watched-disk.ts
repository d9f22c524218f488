/** Observes, and can fail, every sync and rename of this process. */
import { spyOn } from 'bun:test'
import * as fs from 'node:fs'
import { readlinkSync } from 'node:fs'
import * as files from 'node:fs/promises'

export interface Step {
  readonly how: 'sync' | 'datasync' | 'rename'
  /** Absolute path of the file or folder; for a rename, the target. */
  readonly path: string
}

export interface WatchedDisk {
  /** All steps in order, including failed ones. */
  readonly asked: readonly Step[]
  /** Runs before each step and may wait; if it throws, the step fails with that error and is not executed. */
  before: (step: Step) => void | Promise<void>
  [Symbol.dispose](): void
}

/** Active until it goes out of scope; only one at a time. The database's own files are not observed. */
export async function watchDisk(): Promise<WatchedDisk> {
  const { rename } = files
  // The class of file handles is not exported.
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
  const spyDescriptor = (name: 'fsync' | 'fdatasync', original: typeof fs.fsync, how: Step['how']) => {
    const watching = (descriptor: number, done: fs.NoParamCallback) => {
      const path = readlinkSync(`/proc/self/fd/${descriptor}`)
      if (path.endsWith('-wal')) original(descriptor, done)
      else about({ how, path }).then(() => original(descriptor, done), done)
    }
    return spyOn(fs, name).mockImplementation(
      Object.assign(watching, { __promisify__: original.__promisify__ }),
    )
  }
  const spies = [
    spySync('sync'),
    spySync('datasync'),
    spyDescriptor('fsync', fs.fsync, 'sync'),
    spyDescriptor('fdatasync', fs.fdatasync, 'datasync'),
    spyOn(files, 'rename').mockImplementation(async (from, to) => {
      await about({ how: 'rename', path: to.toString() })
      await rename(from, to)
    }),
  ]
  return watched
}

/** The system's error for a failing disk. */
export function inputOutputError(): Error {
  return Object.assign(new Error('EIO: i/o error'), { code: 'EIO', errno: -5 })
}
