import { constants } from 'node:fs'
import { open } from 'node:fs/promises'
import type { BlobKey } from '../domain/ids.ts'
import { assertSize, BlobMissing } from './blob-store.ts'
import { failing, unlessMissing } from './disk-files.ts'

/** Fills the target with the bytes of the blob's file from `start` on, as `BlobStore.readInto` promises. */
export async function fillFrom(
  key: BlobKey,
  path: string,
  start: number,
  target: Uint8Array,
  size?: number,
): Promise<void> {
  const handle = await failing(() =>
    open(path, constants.O_RDONLY | constants.O_NOFOLLOW).catch(unlessMissing),
  )
  if (handle === null) throw new BlobMissing(key)
  await failing(async () => {
    try {
      if (size !== undefined) assertSize(key, (await handle.stat()).size, size)
      for (let filled = 0; filled < target.length; ) {
        const { bytesRead } = await handle.read(target, filled, target.length - filled, start + filled)
        if (bytesRead === 0) throw new Error(`blob ${key} ends at ${start + filled}`)
        filled += bytesRead
      }
    } finally {
      await handle.close()
    }
  })
}
