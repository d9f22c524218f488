import { setTimeout as pause } from 'node:timers/promises'
import { StoreFailure } from '../blobs/blob-store.ts'
import { systemTimers } from '../domain/clock.ts'
import { systemRandom } from '../domain/random.ts'
import { openBlobs, openPlace } from '../storage.ts'
import type { BackupStore } from './backup-encryption.ts'
import type { CopyReply, CopyRequest, CopyThreadOptions } from './backup-threads.ts'
import { type BlobCopier, createBlobCopier, type KnownBlob } from './copying.ts'
import { createThrottle } from './pace.ts'

declare const self: Worker

const stop = new AbortController()
let opened: Promise<BlobCopier> | null = null

self.onmessage = ({ data }: MessageEvent<CopyRequest>) => {
  switch (data.kind) {
    case 'open':
      opened = open(data)
      opened.catch(() => {})
      return
    case 'copy':
      void copyBlob(data.blob)
      return
    case 'stop':
      stop.abort()
      return
  }
}

async function open({ config, place, key, isSyncedLater, rate }: CopyThreadOptions): Promise<BlobCopier> {
  const from = await openBlobs({ config, random: systemRandom }, false)
  const plain = await openPlace(place, systemRandom, { isSyncedLater })
  return createBlobCopier({
    from,
    to: key === null ? plain : await sealed(plain, key),
    goesOn: true,
    // The store's sync and checksum suffice, and the drill reads back.
    readsBack: false,
    hashing: null,
    throttle: rate === null ? undefined : createThrottle(rate, systemTimers, stop.signal),
    pause: (milliseconds) => pause(milliseconds, undefined, { signal: stop.signal }),
    onBytes: (bytes) => reply({ kind: 'bytes', bytes }),
  })
}

/** Without a key the thread starts sooner, as it does not load the library. */
async function sealed(store: BackupStore, key: string): Promise<BackupStore> {
  const { encrypted } = await import('./backup-encryption.ts')
  return encrypted(store, key, 'content')
}

async function copyBlob(blob: KnownBlob): Promise<void> {
  const { id } = blob
  try {
    const copier = await opened
    if (copier === null) throw new Error('the thread has no stores')
    reply({ kind: 'end', id, end: await copier.copy(blob, stop.signal) })
  } catch (error) {
    const reason = error instanceof StoreFailure ? error.reason : null
    const cause = error instanceof StoreFailure ? error.cause : error
    reply({ kind: 'failure', id, message: cause instanceof Error ? cause.message : String(cause), reason })
  }
}

function reply(message: CopyReply): void {
  self.postMessage(message)
}
