import type { UploadEngine } from '../../uploads/engine.ts'
import { BinDialog } from '../bin/bin-dialog.tsx'
import type { OpenDialog as Shown } from '../commands.ts'
import { useFiles } from '../files-context.ts'
import { PaneButtons } from '../folders/folder-pane.tsx'
import { FolderTreeView } from '../folders/folder-tree-view.tsx'
import { LinksDialog } from '../links/links-dialog.tsx'
import { ShareDialog } from '../links/share-dialog.tsx'
import { UploadsDialog } from '../uploads/uploads-dialog.tsx'
import { FilesDialog } from './dialog.tsx'
import { MoveDialog } from './move-dialog.tsx'
import { NewFolderDialog, RenameDialog } from './name-dialog.tsx'
import { SettingsDialog } from './settings-dialog.tsx'

interface DialogOfProps {
  readonly dialog: Shown
  readonly engine: UploadEngine
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
    case 'share':
      return <ShareDialog close={close} entries={dialog.entries} />
    case 'uploads':
      return <UploadsDialog close={close} engine={engine} />
    case 'bin':
      return <BinDialog close={close} />
    case 'links':
      return <LinksDialog close={close} />
    case 'folders':
      return <FoldersDialog close={close} />
  }
}

function FoldersDialog({ close }: { close: () => void }) {
  const { texts, shown, commands } = useFiles()
  return (
    <FilesDialog close={close} title={texts.folders}>
      <FolderTreeView
        at={shown.query.place}
        choose={(place) => {
          close()
          commands.go(place)
        }}
      />
      <PaneButtons />
    </FilesDialog>
  )
}
