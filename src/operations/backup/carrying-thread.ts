/** A thread that copies contents to a backup: it reads, hashes, encrypts and writes. */
import { setTimeout as pause } from 'node:timers/promises'
import { StoreFailure } from '../../blobs/blob-store.ts'
import { systemTimers } from '../../domain/clock.ts'
import { systemRandom } from '../../domain/random.ts'
import { openBlobs, openPlace } from '../../storage.ts'
import { paceOf, unpaced } from '../integrity/pace.ts'
import { type Carrier, carrierOn } from '../relocation/blob-carrying.ts'
import { comparingHere } from '../relocation/comparing.ts'
import type { BlobToMove } from '../relocation/relocated-blobs.rows.ts'
import type { BackupStore } from './backup-store.ts'
import type { CarryingReply, CarryingRequest, ThreadOrder } from './carrying-messages.ts'

declare const self: Worker

const stop = new AbortController()
let opened: Promise<Carrier> | null = null

self.onmessage = ({ data }: MessageEvent<CarryingRequest>) => {
  switch (data.kind) {
    case 'open':
      opened = open(data)
      // Told to whoever asks for the first content.
      opened.catch(() => {})
      return
    case 'carry':
      void carry(data.blob, data.known)
      return
    case 'stop':
      stop.abort()
      return
  }
}

async function open({ config, place, key, isSyncedLater, rate }: ThreadOrder): Promise<Carrier> {
  const from = await openBlobs({ config, random: systemRandom }, false)
  const plain = await openPlace(place, systemRandom, { isSyncedLater })
  return carrierOn({
    from,
    to: key === null ? plain : await sealed(plain, key),
    goesOn: true,
    // The sync and the checksum of a store say the same, and the drill reads back.
    readsBack: false,
    comparing: comparingHere,
    pace: rate === null ? unpaced : paceOf(rate, systemTimers, stop.signal),
    pause: (milliseconds) => pause(milliseconds, undefined, { signal: stop.signal }),
    onBytes: (bytes) => reply({ kind: 'bytes', bytes }),
  })
}

/** A thread without a key starts sooner without the library. */
async function sealed(store: BackupStore, key: string): Promise<BackupStore> {
  const { encrypted } = await import('./encryption.ts')
  return encrypted(store, key)
}

async function carry(blob: BlobToMove, known: Parameters<Carrier['carry']>[1]): Promise<void> {
  const { id } = blob
  try {
    const carrier = await opened
    if (carrier === null) throw new Error('the thread has no stores')
    reply({ kind: 'end', id, end: await carrier.carry(blob, known, stop.signal) })
  } catch (error) {
    const reason = error instanceof StoreFailure ? error.reason : null
    const cause = error instanceof StoreFailure ? error.cause : error
    reply({ kind: 'failure', id, message: cause instanceof Error ? cause.message : String(cause), reason })
  }
}

function reply(message: CarryingReply): void {
  self.postMessage(message)
}
