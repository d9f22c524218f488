import { StoreFailure } from '../../blobs/blob-store.ts'
import type { Config, OwnBackups } from '../../config.ts'
import type { OwnState, Runs } from '../../contents/own-backups.ts'
import { SCRUB_JOB } from '../../contents/scrub.ts'
import { DAY, HOUR } from '../../domain/clock.ts'
import type { Random } from '../../domain/random.ts'
import { formatSize } from '../../domain/sizes.ts'
import { settings } from '../../settings.ts'
import { noticesOtherBytes, tryJoin } from '../../storage.ts'
import type { IntegrityState, ScrubState } from '../integrity.ts'
import { advice, type Finding, fine, problem, reasonOf, say, unknown } from './findings.ts'

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

/** Multiple of its interval after which the scrub counts as behind; equal to the alert's. */
const PATIENCE = 1.5

export function checkStoredBytes(
  { scrub, damaged }: IntegrityState,
  { usesFolder, now }: { readonly usesFolder: boolean; readonly now: number },
): Finding[] {
  return [damage(damaged), scrub === null ? notRead(usesFolder) : reading(scrub, now)]
}

function damage(contents: number): Finding {
  const check = 'damage'
  if (contents === 0) return fine(check, say`no content is marked as damaged`)
  return problem(
    check,
    contents === 1 ? say`one content is damaged` : say`${contents.toLocaleString('en')} contents are damaged`,
    say`Their files are not sent. The disk, its cable or the memory may be failing, and damage more.`,
    [
      { where: 'shell', line: 'holdfast check                  # names the files' },
      { where: 'shell', line: 'holdfast check --from <backup>  # brings them back' },
    ],
  )
}

const READS = 'scrub'

function notRead(usesFolder: boolean): Finding {
  if (!usesFolder) {
    return fine(
      READS,
      say`stored bytes are not read again, as is usual with S3, where reading may cost money`,
    )
  }
  const what = say`stored bytes are not read again: ${settings.scrubDays.variable} is 0`
  return advice(READS, what, say`A disk that loses bytes is noticed only when somebody needs the file.`, [
    { where: 'Holdfast', line: `${settings.scrubDays.variable}=30` },
  ])
}

function reading({ days, rate, oldest, due, job }: ScrubState, now: number): Finding {
  if (job !== null && job.failures > 0) {
    return problem(
      READS,
      job.failure === null
        ? say`stored bytes are not read again; the log has the reason`
        : say`stored bytes are not read again: ${job.failure}`,
      say`A disk that loses bytes is noticed only when somebody needs the file.`,
      job.state === 'set aside' ? [{ where: 'shell', line: `holdfast admin jobs retry "${SCRUB_JOB}"` }] : [],
    )
  }
  const waits = oldest === null ? 0 : Math.floor((now - oldest) / DAY)
  if (waits > days * PATIENCE) {
    return problem(
      READS,
      due.isAll
        ? say`some stored bytes were not read for ${waits} days; ${formatSize(due.bytes)} are due`
        : say`some stored bytes were not read for ${waits} days; more than ${formatSize(due.bytes)} are due`,
      days === 1
        ? say`All are meant to be read within a day. The server reads ${formatSize(rate)} a second at most.`
        : say`All are meant to be read within ${days} days. The server reads ${formatSize(rate)} a second at most.`,
      [{ where: 'Holdfast', line: `${settings.scrubRate.variable}=<more than ${formatSize(rate)}>` }],
    )
  }
  return fine(
    READS,
    waits <= 1
      ? say`all stored bytes were read or stored in the last day`
      : say`all stored bytes were read or stored in the last ${waits} days`,
  )
}

const CHECK = 'backups'

/** Asks the database only, since an unreachable backup target may hang. */
export function checkBackups(
  { backup, drill, seen }: { readonly backup: Runs | null } & Pick<OwnState, 'drill' | 'seen'>,
  own: OwnBackups | null,
  now: number,
): Finding {
  if (backup === null || own === null) {
    const why = say`Without backups made in another way, everything is lost with the disk.`
    const line = `${settings.backup.variable}=<a folder on another disk, or an S3 address>`
    return advice(CHECK, say`the server makes no backups by itself`, why, [{ where: 'Holdfast', line }])
  }
  const age = now - (backup.last?.takenAt ?? backup.since)
  const isOld = age > (2 * own.hours + 1) * HOUR
  if (backup.failure !== null || isOld) {
    const reason = backup.failure?.reason
    const what =
      reason === undefined ? say`the newest backup is ${Math.round(age / HOUR)} h old` : say`${reason}`
    const why = say`What came since is lost with the disk.`
    return problem(CHECK, what, why, [{ where: 'shell', line: 'holdfast backup' }])
  }
  const wrong = drill?.last?.wrong ?? 0
  const reason = drill?.failure?.reason
  if (reason === undefined && wrong === 0) {
    if (seen === null) return fine(CHECK, say`the newest backup is as young as it should be`)
    if (!seen.isOnDataDisk) {
      const state = `${seen.series}/${seen.number}`
      return fine(CHECK, say`the newest backup is as young as it should be; its catalog is ${state}`)
    }
    const what = say`the backups lie on the disk of the data folder`
    const line = `${settings.backup.variable}=<a folder on another disk, or an S3 address>`
    return problem(CHECK, what, say`Whatever destroys the one destroys the other.`, [
      { where: 'Holdfast', line },
    ])
  }
  const why = say`A backup that nobody can restore is none.`
  const what =
    reason !== undefined
      ? say`the last rehearsal of a restore: ${reason}`
      : wrong === 1
        ? say`the last rehearsal of a restore: one content did not come back`
        : say`the last rehearsal of a restore: ${wrong} contents did not come back`
  return problem(CHECK, what, why, [{ where: 'shell', line: 'holdfast drill' }])
}
