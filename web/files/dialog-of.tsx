import type { Engine } from '../start/engine.ts'
import { BinDialog } from './bin-dialog.tsx'
import type { Dialog as Shown } from './commands.ts'
import { Dialog } from './dialog.tsx'
import { useFiles } from './files-context.ts'
import { FolderTreeView } from './folder-tree-view.tsx'
import { MoveDialog } from './move-dialog.tsx'
import { NewFolderDialog, RenameDialog } from './name-dialog.tsx'
import { SettingsDialog } from './settings-dialog.tsx'
import { UploadsDialog } from './uploads-dialog.tsx'

interface DialogOfProps {
  readonly dialog: Shown
  readonly engine: Engine
  readonly close: () => void
}

export function DialogOf({ dialog, engine, close }: DialogOfProps) {
  switch (dialog.kind) {
    case 'new folder':
      return <NewFolderDialog close={close} />
    case 'rename':
      return <RenameDialog close={close} entry={dialog.entry} />
    case 'move':
      return <MoveDialog close={close} entries={dialog.entries} />
    case 'settings':
      return <SettingsDialog close={close} folder={dialog.folder} />
    case 'uploads':
      return <UploadsDialog close={close} engine={engine} />
    case 'bin':
      return <BinDialog close={close} />
    case 'folders':
      return <FoldersDialog close={close} />
  }
}

/** The tree, where there is no room for it beside the list. */
function FoldersDialog({ close }: { close: () => void }) {
  const { texts, shown, commands } = useFiles()
  return (
    <Dialog close={close} title={texts.folders}>
      <FolderTreeView
        at={shown.query.place}
        choose={(place) => {
          close()
          commands.go(place)
        }}
      />
      <button className="pane-button" onClick={() => commands.show({ kind: 'bin' })} type="button">
        {texts.bin.title}
      </button>
    </Dialog>
  )
}
