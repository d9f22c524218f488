import { setTimeout } from 'node:timers/promises'
import type { Config } from '../../config.ts'
import { Refusal } from '../../domain/errors.ts'
import type { StorageOptions } from '../../storage.ts'
import { connect, databaseExists, holdDataFolder, openBlobs } from '../../storage.ts'
import { openToFill, synced } from '../backup/durability.ts'
import { relocateBlobs as moveInstallation, type Relocated, type RelocationParts } from './relocation.ts'

export type { UncopyableBlob } from './copy-blobs.ts'
export type { Relocated, RelocationStep } from './relocation.ts'

export function movedParts(from: Config, to: Config): { readonly rows: boolean; readonly bytes: boolean } {
  const database = ({ databaseUrl, dataDir }: Config) => databaseUrl ?? dataDir
  const store = ({ s3, dataDir }: Config) => (s3 === null ? dataDir : `${s3.endpoint}/${s3.bucket}`)
  return { rows: database(from) !== database(to), bytes: store(from) !== store(to) }
}

/** `cause`: why, naming the settings of a server at the target. */
export class TargetUnusable extends Error {
  override readonly name = 'TargetUnusable'
}

async function ofTarget<T>(opening: Promise<T>): Promise<T> {
  try {
    return await opening
  } catch (cause) {
    throw new TargetUnusable('the target cannot be opened', { cause })
  }
}

/** Locks both data folders against servers. Throws DataFolderInUse, TargetUnusable, and what `relocation.ts` throws. */
export async function relocate(
  parts: StorageOptions &
    Pick<RelocationParts, 'signal' | 'watch' | 'skipDamaged' | 'movedTo'> & { readonly target: Config },
): Promise<Relocated> {
  const { config, target } = parts
  const moves = movedParts(config, target)
  if (!databaseExists(config)) {
    throw new Refusal('PRECONDITION_FAILED', `there is nothing to move: no database is in ${config.dataDir}`)
  }
  const open = new AsyncDisposableStack()
  const partsOf = (its: Config) => ({ ...parts, config: its, report() {} })
  const connected = async (its: Config) => {
    const { db, isShared, close } = await connect(partsOf(its))
    open.defer(close)
    return { db, isShared }
  }
  try {
    open.defer(await holdDataFolder(config))
    if (moves.rows) open.defer(await ofTarget(holdDataFolder(target)))
    const source = { ...(await connected(config)), blobs: await openBlobs(partsOf(config), false) }
    const filled = moves.bytes ? await ofTarget(openToFill(partsOf(target))) : null
    return await moveInstallation({
      ...parts,
      source,
      durability: filled?.durability ?? synced,
      target: {
        ...(moves.rows ? await ofTarget(connected(target)) : source),
        blobs: filled?.blobs ?? source.blobs,
      },
      pause: (milliseconds) => setTimeout(milliseconds),
    })
  } finally {
    await open.disposeAsync()
  }
}
