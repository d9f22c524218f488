import { DAY } from '../../domain/clock.ts'
import { formatSize } from '../../domain/sizes.ts'
import { settings } from '../../settings.ts'
import type { IntegrityState, ScrubState } from '../integrity/integrity.ts'
import { SCRUB_JOB } from '../integrity/scrub.ts'
import { advice, type Finding, fine, problem, say } from './findings.ts'

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
