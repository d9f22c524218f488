import { Button } from '@mantine/core'
import { useState } from 'react'
import { mayGo } from '../commands.ts'
import { type Entry, type Place, TOP } from '../entry.ts'
import { useFiles } from '../files-context.ts'
import { FolderTreeView } from '../folders/folder-tree-view.tsx'
import { FilesDialog } from './dialog.tsx'

/** Where to, for who does not drag. */
export function MoveDialog({ entries, close }: { entries: readonly Entry[]; close: () => void }) {
  const { texts, words, manager, commands } = useFiles()
  const [to, setTo] = useState<Place>(entries[0]?.place ?? TOP)
  const isClosed = (place: Place) => !mayGo(manager, entries, place)

  return (
    <FilesDialog close={close} title={words.count(entries.length, texts.dialogs.moveTo)}>
      <FolderTreeView at={to} choose={setTo} isClosed={isClosed} />
      <div className="dialog-actions">
        <Button onClick={close} variant="default">
          {texts.dialogs.cancel}
        </Button>
        <Button
          disabled={isClosed(to)}
          onClick={() => {
            commands.move(entries, to)
            close()
          }}
        >
          {texts.dialogs.moveHere}
        </Button>
      </div>
    </FilesDialog>
  )
}
