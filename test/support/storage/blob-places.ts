/** Locations for blob stores in contract tests: a folder, and a bucket of a real S3 store. */
import { test } from 'bun:test'
import { join } from 'node:path'
import type { BlobStore } from '../../../src/blobs/blob-store.ts'
import { openDiskBlobs } from '../../../src/blobs/disk.ts'
import { openS3Blobs } from '../../../src/blobs/s3.ts'
import { systemRandom } from '../../../src/domain/random.ts'
import { temporaryFolder } from '../processes/child.ts'
import { newBucket, whyNoCeph } from './ceph.ts'

/** Opens the same location repeatedly, as nodes do that share it. */
export type Place = () => Promise<BlobStore>
/** Creates an empty location; its resources are disposed of with the stack. */
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
  // A test as well as a warning: with CI=true a suite that could not run counts as failed.
  test.skipIf(process.env.CI !== 'true')(`${what} did not run on S3: ${noCeph}`, () => {
    throw new Error(noCeph)
  })
}
