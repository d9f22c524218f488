import type { FolderPageData } from '../../../../web/folder/data.ts'
import { Drawing } from '../../../../web/shared/drawing.tsx'
import { FileName } from '../../../../web/shared/file-name.tsx'
import { fill } from '../../../../web/shared/words.ts'
import type { FolderPageView } from '../views.ts'
import type { PageContext } from './context.ts'
import { FileItem } from './file-item.tsx'
import { Layout, LinkPreview } from './layout.tsx'

export function FolderPage({ view, context }: { view: FolderPageView; context: PageContext }) {
  const texts = context.texts.folder
  const content = contentOf(view, context)
  const data: FolderPageData = { locale: context.locale }
  const empty = view.fileCount === 0 && view.folders.length === 0
  return (
    <Layout
      context={context}
      head={<LinkPreview description={content} image={firstPicture(view)} title={view.name} url={view.url} />}
      scripted={{ page: 'folder', data }}
      title={view.name}
    >
      <main className="folder">
        {view.parent === null ? null : (
          <a className="up" href={view.parent.url}>
            <Drawing of="folder" />
            <bdi>{view.parent.name}</bdi>
          </a>
        )}
        <h1>
          <bdi>{view.name}</bdi>
        </h1>
        {empty ? null : (
          <>
            <p className="quiet">{content}</p>
            <a className="button button-quiet" href="?download=zip" rel="nofollow">
              {texts.downloadAll}
            </a>
          </>
        )}
        <Subfolders context={context} folders={view.folders} />
        {view.files.length === 0 ? null : <Files context={context} files={view.files} />}
        {empty ? <p className="empty quiet">{texts.empty}</p> : null}
        <Pager context={context} page={view.page} pages={view.pages} />
      </main>
    </Layout>
  )
}

/** Other sites need an absolute address. */
function firstPicture(view: FolderPageView): string | undefined {
  const first = view.files[0]
  return first && new URL(first.thumbnailUrl, view.url).href
}

function contentOf(view: FolderPageView, { words, texts }: PageContext): string {
  const files = words.count(view.fileCount, texts.common.files)
  if (view.folders.length === 0) return files
  return `${words.count(view.folders.length, texts.common.folders)}, ${files}`
}

interface SubfoldersProps {
  readonly folders: FolderPageView['folders']
  readonly context: PageContext
}

function Subfolders({ folders, context }: SubfoldersProps) {
  const { words, texts } = context
  if (folders.length === 0) return null
  return (
    <ul aria-label={texts.folder.folders} className="subfolders">
      {folders.map((folder) => (
        <li key={folder.url}>
          <a className="subfolder-item" href={folder.url}>
            <Drawing of="folder" size={24} />
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

/** A gallery when most of the files are pictures or video, else a list. */
function Files({ files, context }: { files: FolderPageView['files']; context: PageContext }) {
  const visual = files.filter((file) => /^(image|video)\//.test(file.type)).length
  return (
    <ul
      aria-label={context.texts.folder.files}
      className={visual * 2 > files.length ? 'files gallery' : 'files list'}
    >
      {files.map((file) => (
        <FileItem context={context} file={file} key={file.slug} />
      ))}
    </ul>
  )
}

function Pager({ page, pages, context }: { page: number; pages: number; context: PageContext }) {
  const { words, texts } = context
  if (pages <= 1) return null
  return (
    <nav aria-label={texts.folder.pages} className="pager">
      {page > 1 ? (
        <a aria-label={texts.folder.previousPage} className="page-link" href={`?page=${page - 1}`} rel="prev">
          ←
        </a>
      ) : null}
      <span className="quiet">
        {fill(texts.folder.pageOf, { page: words.number(page), pages: words.number(pages) })}
      </span>
      {page < pages ? (
        <a aria-label={texts.folder.nextPage} className="page-link" href={`?page=${page + 1}`} rel="next">
          →
        </a>
      ) : null}
    </nav>
  )
}
