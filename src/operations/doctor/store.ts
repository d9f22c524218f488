import { StoreFailure } from '../../blobs/blob-store.ts'
import type { Config } from '../../config.ts'
import type { Random } from '../../domain/random.ts'
import { noticesOtherBytes } from '../../storage.ts'
import { type Finding, fine, problem, reasonOf, unknown } from './findings.ts'

/** Whether the store takes bytes, returns and removes them. */
export async function checkStore({ s3 }: Config, probeStore: () => Promise<void>): Promise<Finding> {
  const place = s3 === null ? 'the data folder' : `bucket ${s3.bucket}`
  try {
    await probeStore()
    return fine('store', `${place} takes, returns and removes bytes`)
  } catch (error) {
    if (error instanceof StoreFailure && error.reason === 'full') {
      return problem('store', `${place} is full`, 'Files can be opened and not stored.')
    }
    const why = 'Files can be neither stored nor opened.'
    const line =
      'let this key read, write, delete and list objects, and list and abort multipart uploads, in this bucket'
    return problem(
      'store',
      `${place}: ${reasonOf(error)}`,
      why,
      s3 === null ? [] : [{ where: 'S3 store', line }],
    )
  }
}

/** Whether an S3 store notices bytes that change on their way to it. */
export async function checkDigests({
  config: { s3 },
  random,
}: {
  readonly config: Config
  readonly random: Random
}): Promise<Finding> {
  const check = 'store-checksums'
  if (s3 === null) return fine(check, 'no store takes bytes over a network')
  try {
    if (await noticesOtherBytes(s3, random))
      return fine(check, 'bytes that change on their way to the store are noticed')
  } catch (error) {
    return unknown(check, reasonOf(error))
  }
  return problem(
    check,
    'the store takes bytes that do not match their checksum (signed SHA-256 or Content-MD5)',
    'What changes on its way to the store is noticed only when somebody reads it.',
    [
      {
        where: 'S3 store',
        line: 'use a version that verifies X-Amz-Content-Sha256 and Content-MD5, or turn that on',
      },
    ],
  )
}
