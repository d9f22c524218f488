import { openToRead, type TargetOptions } from './backup-place.ts'
import type { RepairBlob } from './check.ts'
import { repairFromCopy } from './damage.ts'

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
