import { Drawing } from '../../../web/shared/drawings/drawing.tsx'
import { FileName } from '../../../web/shared/file-name.tsx'
import type { FolderPageView } from '../views.ts'
import type { PageContext } from './context.ts'

interface SubfoldersProps {
  readonly folders: FolderPageView['folders']
  readonly context: PageContext
}

export function Subfolders({ folders, context }: SubfoldersProps) {
  const { words, texts } = context
  if (folders.length === 0) return null
  return (
    <ul aria-label={texts.folder.folders} className="subfolders">
      {folders.map((folder) => (
        <li key={folder.url}>
          <a className="subfolder-item" href={folder.url}>
            <Drawing of={folder.fileCount === null ? 'lock' : 'folder'} size={24} />
            <FileName name={folder.name} />
            <span className="small quiet">
              {folder.fileCount === null
                ? texts.folder.passwordNeeded
                : words.count(folder.fileCount, texts.common.files)}
            </span>
          </a>
        </li>
      ))}
    </ul>
  )
}
