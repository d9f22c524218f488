import type { RepairBlob } from '../integrity/check.ts'
import { repairFromCopy } from '../integrity/repair-from-copy.ts'
import { openToRead, type TargetOptions } from './target.ts'

export interface BackupRepair {
  readonly repair: RepairBlob
  close(): Promise<void>
}

export async function openBackupRepair(options: TargetOptions): Promise<BackupRepair> {
  const { store, catalog } = await openToRead(options)
  return {
    async repair(parts, { content }) {
      return (await repairFromCopy({ from: store, fromKey: content.key }, content, parts)) === 'repaired'
    },
    close: () => catalog.release(),
  }
}
