import { type BlobStore, isLost, StoreFailure } from '../../blobs/blob-store.ts'
import { type Clock, SECOND } from '../../domain/clock.ts'
import { readStoreMark } from './store-mark.ts'

/** How long one check of the mark counts. */
const FRESH_FOR = SECOND

/**
 * Bytes count as missing only while the store shows its mark, since an unmounted disk has lost nothing. Otherwise
 * throws StoreFailure: `away` for reads and removals; `broken` for probes, since writes to another disk would be lost.
 * `mark`: from pairing.
 */
export function guardPresence(blobs: BlobStore, mark: string, clock: Clock): BlobStore {
  let seenAt = Number.NEGATIVE_INFINITY

  async function assertPresent(reason: 'away' | 'broken' = 'away'): Promise<void> {
    const now = clock.monotonic()
    if (now - seenAt < FRESH_FOR) return
    const present = await readStoreMark(blobs)
    if (present?.mark !== mark) {
      throw new StoreFailure(reason, {
        cause: new Error('the store does not show the mark of this database'),
      })
    }
    seenAt = now
  }

  /** Bytes may be missing because the store went away after the last check. */
  async function assertPresentNow(reason: 'away' | 'broken' = 'away'): Promise<void> {
    seenAt = Number.NEGATIVE_INFINITY
    await assertPresent(reason)
  }

  async function looking<T>(look: () => Promise<T>): Promise<T> {
    try {
      return await look()
    } catch (error) {
      if (isLost(error)) await assertPresentNow()
      throw error
    }
  }

  async function orNone<T>(look: () => Promise<T | null>): Promise<T | null> {
    const found = await look()
    if (found === null) await assertPresentNow()
    return found
  }

  return {
    dropsUnfinished: blobs.dropsUnfinished,
    readsGrowing: blobs.readsGrowing,
    create: (key, length) => blobs.create(key, length),
    put: (key, bytes, sha256) => blobs.put(key, bytes, sha256),
    resume: (key, kept, length) => looking(() => blobs.resume(key, kept, length)),
    read: (key, start, end, size) => looking(() => blobs.read(key, start, end, size)),
    open: (key, size) => looking(() => blobs.open(key, size)),
    openGrowing: (key) => looking(() => blobs.openGrowing(key)),
    chunks: (key, start, end, size) => looking(() => blobs.chunks(key, start, end, size)),
    readInto: (key, start, target, size) => looking(() => blobs.readInto(key, start, target, size)),
    size: (key) => orNone(() => blobs.size(key)),
    storedAt: (key) => orNone(() => blobs.storedAt(key)),
    list: () => blobs.list(),
    listSizes: () => blobs.listSizes(),
    freeSpace: () => blobs.freeSpace(),
    readMark: (copy) => blobs.readMark(copy),
    writeMark: (text, copy) => blobs.writeMark(text, copy),
    link: (key, options) => blobs.link(key, options),
    async probe() {
      await assertPresentNow('broken')
      await blobs.probe()
    },
    async remove(key) {
      await assertPresent()
      await blobs.remove(key)
    },
    async endForgotten(before, isUnderWay) {
      await assertPresent()
      await blobs.endForgotten(before, isUnderWay)
    },
    async removeAll(keys, failed) {
      try {
        await assertPresent()
      } catch (error) {
        failed(error)
        return []
      }
      return blobs.removeAll(keys, failed)
    },
  }
}
