import { setTimeout as pause } from 'node:timers/promises'
import { type BlobStore, StoreFailure } from '../blobs/blob-store.ts'
import { systemTimers } from '../domain/clock.ts'
import { systemRandom } from '../domain/random.ts'
import { openBlobs, openPlace } from '../storage.ts'
import {
  type BlobCopier,
  type CopyOrder,
  type CopyReply,
  type CopyRequest,
  createBlobCopier,
  type KnownBlob,
  type StoreAddress,
} from './copy-threads.ts'
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

async function open({ from, to, goesOn, readsBack, isSyncedLater, rate }: CopyOrder): Promise<BlobCopier> {
  return createBlobCopier({
    from: await openStore(from, false),
    to: await openStore(to, isSyncedLater),
    goesOn,
    readsBack,
    throttle: rate === null ? undefined : createThrottle(rate, systemTimers, stop.signal),
    pause: (milliseconds) => pause(milliseconds, undefined, { signal: stop.signal }),
    onBytes: (bytes) => reply({ kind: 'bytes', bytes }),
  })
}

async function openStore(
  address: StoreAddress,
  isSyncedLater: boolean,
): Promise<Pick<BlobStore, 'create' | 'read' | 'size' | 'remove'>> {
  if (address.kind === 'installation') {
    return openBlobs({ config: address.config, random: systemRandom }, false, { isSyncedLater })
  }
  const { place, key } = address
  const plain = await openPlace(place, systemRandom, { isSyncedLater })
  if (key === null) return plain
  // Without a key the thread starts sooner, as it does not load the library.
  const { encrypted } = await import('./backup-encryption.ts')
  return encrypted(plain, key, 'content')
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
