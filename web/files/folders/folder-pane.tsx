import { Drawing } from '../../shared/drawings/drawing.tsx'
import { useFiles } from '../files-context.ts'
import { FolderTreeView } from './folder-tree-view.tsx'

export function FolderPane() {
  const { texts, shown, commands } = useFiles()
  return (
    <nav aria-label={texts.folders} className="folder-pane">
      <FolderTreeView at={shown.query.place} choose={commands.go} drops />
      <PaneButtons />
    </nav>
  )
}

export function PaneButtons() {
  const { texts, commands } = useFiles()
  return (
    <>
      <button className="pane-button" onClick={() => commands.show({ kind: 'links' })} type="button">
        <Drawing of="link" />
        {texts.links.title}
      </button>
      <button className="pane-button" onClick={() => commands.show({ kind: 'bin' })} type="button">
        <Drawing of="trash" />
        {texts.bin.title}
      </button>
    </>
  )
}
