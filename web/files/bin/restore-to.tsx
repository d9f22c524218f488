import { useState } from 'react'
import type { BinEntry } from '../../../src/contract/bin.ts'
import { DialogActions } from '../../shared/dialogs/dialog-actions.tsx'
import { fill } from '../../shared/words.ts'
import { type Place, TOP } from '../entry.ts'
import { useFiles } from '../files-context.ts'
import { FolderTreeView } from '../folders/folder-tree-view.tsx'

interface RestoreToProps {
  readonly entry: BinEntry
  readonly restore: (to: Place) => void
  readonly cancel: () => void
}

/** Asks for a target: at the top level the entry could be opened by its link. */
export function RestoreTo({ entry, restore, cancel }: RestoreToProps) {
  const { texts } = useFiles()
  const { bin, dialogs } = texts
  const [to, setTo] = useState<Place>(TOP)
  return (
    <section>
      <p role="alert">{fill(bin.whereTo, { name: entry.name })}</p>
      <FolderTreeView at={to} choose={setTo} />
      <DialogActions
        cancel={cancel}
        cancelText={dialogs.cancel}
        act={() => restore(to)}
        isDisabled={false}
        verb={bin.restoreHere}
      />
    </section>
  )
}
