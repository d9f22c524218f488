/** Holds, counts and fails the syncs of write-ahead logs that this process has opened. */
import { spyOn } from 'bun:test'
import * as files from 'node:fs'

export interface HeldSyncs extends Disposable {
  /** Syncs that were asked for. */
  readonly asked: number
  /** Syncs that wait for `release` or `fail`. */
  readonly held: number
  /** Carries the waiting ones out. */
  release(): void
  /** Fails the waiting ones. */
  fail(error: Error): void
}

/** Active until it goes out of scope; only one at a time. */
export function holdSyncs(): HeldSyncs {
  const { fdatasync } = files
  const waiting: { readonly descriptor: number; readonly done: files.NoParamCallback }[] = []
  let asked = 0
  const hold = (descriptor: number, done: files.NoParamCallback) => {
    asked += 1
    waiting.push({ descriptor, done })
  }
  const spy = spyOn(files, 'fdatasync').mockImplementation(
    Object.assign(hold, { __promisify__: fdatasync.__promisify__ }),
  )
  const release = () => {
    for (const { descriptor, done } of waiting.splice(0)) fdatasync(descriptor, done)
  }
  return {
    get asked() {
      return asked
    },
    get held() {
      return waiting.length
    },
    release,
    fail(error) {
      for (const { done } of waiting.splice(0)) done(error)
    },
    [Symbol.dispose]() {
      spy.mockRestore()
      release()
    },
  }
}
