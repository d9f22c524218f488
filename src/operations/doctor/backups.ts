import type { OwnBackups } from '../../config/setting-groups.ts'
import type { OwnState, Runs } from '../../contents/own-backups.ts'
import { HOUR } from '../../domain/clock.ts'
import { settings } from '../../settings.ts'
import { advice, type Finding, fine, problem, say } from './findings.ts'

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
