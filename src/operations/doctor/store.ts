import { StoreFailure } from '../../blobs/blob-store.ts'
import type { Config } from '../../config.ts'
import type { Random } from '../../domain/random.ts'
import { noticesOtherBytes, tryJoin } from '../../storage.ts'
import { type Finding, fine, problem, reasonOf, say, unknown } from './findings.ts'

export async function checkStore({ s3 }: Config, probeStore: () => Promise<void>): Promise<Finding> {
  try {
    await probeStore()
    return fine(
      'store',
      s3 === null
        ? say`the data folder takes, returns and removes bytes`
        : say`bucket ${s3.bucket} takes, returns and removes bytes`,
    )
  } catch (error) {
    if (error instanceof StoreFailure && error.reason === 'full') {
      return problem(
        'store',
        s3 === null ? say`the data folder is full` : say`bucket ${s3.bucket} is full`,
        say`Files can be opened and not stored.`,
      )
    }
    const why = say`Files can be neither stored nor opened.`
    const line =
      'let this key read, write, delete and list objects, and list and abort multipart uploads, in this bucket'
    return problem(
      'store',
      s3 === null ? say`the data folder: ${reasonOf(error)}` : say`bucket ${s3.bucket}: ${reasonOf(error)}`,
      why,
      s3 === null ? [] : [{ where: 'S3 store', line }],
    )
  }
}

/** Whether it rejects bytes that changed on their way. */
export async function checkDigests({
  config: { s3 },
  random,
}: {
  readonly config: Config
  readonly random: Random
}): Promise<Finding> {
  const check = 'store-checksums'
  if (s3 === null) return fine(check, say`no store takes bytes over a network`)
  try {
    if (await noticesOtherBytes(s3, random))
      return fine(check, say`bytes that change on their way to the store are noticed`)
  } catch (error) {
    return unknown(check, say`${reasonOf(error)}`)
  }
  return problem(
    check,
    say`the store takes bytes that do not match their checksum (signed SHA-256 or Content-MD5)`,
    say`What changes on its way to the store is noticed only when somebody reads it.`,
    [
      {
        where: 'S3 store',
        line: 'use a version that verifies X-Amz-Content-Sha256 and Content-MD5, or turn that on',
      },
    ],
  )
}

/** S3 multipart upload, which every file over 8 MiB needs. */
export async function checkJoins({
  config: { s3 },
  random,
}: {
  readonly config: Config
  readonly random: Random
}): Promise<Finding> {
  const check = 'store-parts'
  if (s3 === null) return fine(check, say`no store joins parts`)
  try {
    await tryJoin(s3, random)
    return fine(check, say`bucket ${s3.bucket} joins the parts of large files`)
  } catch (error) {
    return problem(
      check,
      say`bucket ${s3.bucket} does not join the parts of large files: ${reasonOf(error)}`,
      say`Files over 8 MiB cannot be stored.`,
      [{ where: 'S3 store', line: 'let this key create and complete multipart uploads in this bucket' }],
    )
  }
}
