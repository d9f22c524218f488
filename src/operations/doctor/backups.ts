import type { OwnBackups } from '../../config/setting-groups.ts'
import { HOUR } from '../../domain/clock.ts'
import { settings } from '../../settings.ts'
import type { IntegrityState } from '../integrity/integrity.ts'
import { advice, type Finding, fine, problem } from './findings.ts'

const CHECK = 'backups'

/** Whether the server's own backups are made, and can be restored. Asks the database alone, as a place that is away may hang. */
export function checkBackups(
  { backup, drill }: Pick<IntegrityState, 'backup' | 'drill'>,
  own: OwnBackups | null,
  now: number,
): Finding {
  if (backup === null || own === null) {
    const why = 'Without backups made in another way, everything is lost with the disk.'
    const line = `${settings.backup.variable}=<a folder on another disk, or an S3 address>`
    return advice(CHECK, 'the server makes no backups by itself', why, [{ where: 'Holdfast', line }])
  }
  const age = now - (backup.last?.takenAt ?? backup.since)
  const isOld = age > (2 * own.hours + 1) * HOUR
  if (backup.failure !== null || isOld) {
    const what = backup.failure?.reason ?? `the newest backup is ${Math.round(age / HOUR)} h old`
    const why = 'What came since is lost with the disk.'
    return problem(CHECK, what, why, [{ where: 'shell', line: 'holdfast backup' }])
  }
  const wrong = drill?.last?.wrong ?? 0
  const failed = drill?.failure?.reason ?? (wrong > 0 ? `${wrong} contents did not come back` : null)
  if (failed === null) return fine(CHECK, 'the newest backup is as young as it should be')
  const why = 'A backup that nobody can restore is none.'
  return problem(CHECK, `the last rehearsal of a restore: ${failed}`, why, [
    { where: 'shell', line: 'holdfast drill' },
  ])
}
