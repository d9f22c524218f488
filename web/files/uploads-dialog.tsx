import { useMemo, useSyncExternalStore } from 'react'
import type { Engine } from '../start/engine.ts'
import { UploadListView } from '../start/upload-list.tsx'
import { createView } from '../start/view.ts'
import { Dialog } from './dialog.tsx'
import { useFiles } from './files-context.ts'
import { UploadsElsewhere } from './uploads-elsewhere.tsx'

/** The uploads of this window, and those that were begun elsewhere and are not finished. */
export function UploadsDialog({ engine, close }: { engine: Engine; close: () => void }) {
  const { data, texts, words } = useFiles()
  const uploads = useSyncExternalStore(engine.subscribe, engine.snapshot)
  const view = useMemo(() => createView({ locale: data.locale, texts: data.uploads }, words), [data, words])
  return (
    <Dialog close={close} isWide title={texts.uploads.title}>
      {uploads.items.length === 0 ? null : <UploadListView engine={engine} uploads={uploads} view={view} />}
      <UploadsElsewhere engine={engine} view={view} />
    </Dialog>
  )
}
