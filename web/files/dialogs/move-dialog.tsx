import { useState } from 'react'
import { DialogActions } from '../../shared/dialogs/dialog-actions.tsx'
import { fill } from '../../shared/words.ts'
import { mayGo } from '../commands.ts'
import { type Entry, type Place, TOP } from '../entry.ts'
import { useFiles } from '../files-context.ts'
import { FolderTreeView } from '../folders/folder-tree-view.tsx'
import { FilesDialog } from './dialog.tsx'

export function MoveDialog({ entries, close }: { entries: readonly Entry[]; close: () => void }) {
  const { texts, words, manager, commands } = useFiles()
  const [to, setTo] = useState<Place>(entries[0]?.place ?? TOP)
  const name = entries[0]?.name ?? ''
  const title = fill(words.count(entries.length, texts.dialogs.moveTo), { name })
  const isClosed = (place: Place) => !mayGo(manager, entries, place)

  return (
    <FilesDialog close={close} title={title}>
      <FolderTreeView at={to} choose={setTo} isClosed={isClosed} />
      <DialogActions
        cancel={close}
        cancelText={texts.dialogs.cancel}
        act={() => {
          commands.move(entries, to)
          close()
        }}
        isDisabled={isClosed(to)}
        verb={texts.dialogs.moveHere}
      />
    </FilesDialog>
  )
}
