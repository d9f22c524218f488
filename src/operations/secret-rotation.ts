import { assertOwnVersion } from '../contents/installation.ts'
import { assertNoServerRuns } from '../core/nodes/nodes.ts'
import { type Clock, SECOND, sleep } from '../domain/clock.ts'
import { Refusal } from '../domain/errors.ts'
import { connect, databaseExists, holdDataFolder, type StorageOptions } from '../storage.ts'
import { type Rotation, readSecret, rotateSecrets } from './secrets.ts'

/**
 * Rotates to the configured secret, or to a new one in the database. Throws DataFolderInUse or Refusal
 * PRECONDITION_FAILED while a server runs, and what `rotateSecrets` throws.
 */
export async function rotateSecretsOf(
  parts: StorageOptions,
  options: { readonly formerFile: string | null; readonly mayDropCodes: boolean },
): Promise<Rotation> {
  const { config, clock, random } = parts
  if (!databaseExists(config)) throw new Refusal('PRECONDITION_FAILED', 'there is no Holdfast data here')
  const open = new AsyncDisposableStack()
  try {
    open.defer(await holdDataFolder(config))
    const { db, close } = await connect({ ...parts, report() {} })
    open.defer(close)
    await assertOwnVersion(db)
    await quiet(db, clock)
    const { formerFile, mayDropCodes } = options
    const former = formerFile === null ? null : await readSecret({ kind: 'file', path: formerFile })
    return await rotateSecrets(db, {
      given: await readSecret(config.secret),
      former,
      mayDropCodes,
      clock,
      random,
    })
  } finally {
    await open.disposeAsync()
  }
}

async function quiet(db: Parameters<typeof assertNoServerRuns>[0], clock: Clock): Promise<void> {
  const { signal } = new AbortController()
  const pause = (time: number) => sleep(clock.timers, Math.min(time, SECOND))
  await (await assertNoServerRuns(db, { clock, pause, signal }))()
}
