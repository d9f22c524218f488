import { useMemo, useSyncExternalStore } from 'react'
import type { UploadEngine } from '../../uploads/engine.ts'
import { UploadListView } from '../../uploads/list/upload-list.tsx'
import { View } from '../../uploads/list/view.ts'
import type { Target } from '../../uploads/upload-item.ts'
import { isPrivateTarget } from '../commands.ts'
import { FilesDialog } from '../dialogs/dialog.tsx'
import { useFiles } from '../files-context.ts'
import { UploadsElsewhere } from './uploads-elsewhere.tsx'

export function UploadsDialog({ engine, close }: { engine: UploadEngine; close: () => void }) {
  const { data, texts, words, shown } = useFiles()
  const uploads = useSyncExternalStore(engine.subscribe, engine.snapshot)
  const view = useMemo(() => new View({ locale: data.locale, texts: data.uploads }, words), [data, words])
  const noteOf = (target: Target) => (isPrivateTarget(shown.tree, target) ? texts.details.privateWhy : null)
  return (
    <FilesDialog close={close} isWide title={texts.uploads.title}>
      {uploads.items.length === 0 ? null : (
        <UploadListView engine={engine} noteOf={noteOf} uploads={uploads} view={view} />
      )}
      <UploadsElsewhere engine={engine} view={view} />
    </FilesDialog>
  )
}
