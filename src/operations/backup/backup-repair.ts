/** Brings damaged contents back from a backup. */
import type { RepairBlob } from '../integrity/check.ts'
import { repairFromCopy } from '../integrity/repair-from-copy.ts'
import { openToRead, type TargetOptions } from './target.ts'

export interface BackupRepair {
  readonly repair: RepairBlob
  close(): Promise<void>
}

/** Throws Refusal PRECONDITION_FAILED where there is no backup. */
export async function openBackupRepair(options: TargetOptions): Promise<BackupRepair> {
  const { store, catalog } = await openToRead(options)
  return {
    async repair(parts, { content }) {
      return (await repairFromCopy({ from: store, fromKey: content.key }, content, parts)) === 'repaired'
    },
    close: () => catalog.release(),
  }
}
