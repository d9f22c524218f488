/** Where blob stores are opened in contract tests: a folder, and a bucket of a real S3 store. */
import { test } from 'bun:test'
import { join } from 'node:path'
import type { BlobStore } from '../../src/blobs/blob-store.ts'
import { openDiskBlobs } from '../../src/blobs/disk.ts'
import { openS3Blobs } from '../../src/blobs/s3.ts'
import { systemRandom } from '../../src/domain/random.ts'
import { newBucket, whyNoCeph } from './ceph.ts'
import { temporaryFolder } from './child.ts'

/** Opens one and the same place again and again, as nodes do that share it. */
export type Place = () => Promise<BlobStore>
/** A new, empty place; what it takes goes with the stack. */
export type NewPlace = (stack: DisposableStack) => Promise<Place>

/** Runs the contract on every kind of store. */
export function onEveryStore(what: string, contract: (name: string, newPlace: NewPlace) => void): void {
  contract('disk', async (stack) => {
    const folder = stack.use(temporaryFolder())
    return () => openDiskBlobs(join(folder.path, 'blobs'), systemRandom, { alone: false })
  })

  const noCeph = whyNoCeph()
  if (noCeph === null) {
    contract('S3', async () => {
      const settings = await newBucket()
      return () => openS3Blobs(settings, systemRandom)
    })
    return
  }
  // Said once more where it is counted: with CI=true a suite that could not run is a failure.
  test.skipIf(process.env.CI !== 'true')(`${what} did not run on S3: ${noCeph}`, () => {
    throw new Error(noCeph)
  })
}
