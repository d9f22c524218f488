import type { FolderPageView } from '../views.ts'
import { Drawing } from './drawing.tsx'
import { FileItem } from './file-item.tsx'
import { FileName } from './file-name.tsx'
import { Layout, LinkPreview } from './layout.tsx'
import { count } from './words.ts'

export function FolderPage({ view }: { view: FolderPageView }) {
  const content = contentOf(view)
  const empty = view.fileCount === 0 && view.folders.length === 0
  return (
    <Layout
      head={<LinkPreview description={content} image={firstPicture(view)} title={view.name} url={view.url} />}
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
              Download all as a zip
            </a>
          </>
        )}
        <Subfolders folders={view.folders} />
        {view.files.length === 0 ? null : <Files files={view.files} />}
        {empty ? <p className="empty quiet">Files put into this folder will show up here.</p> : null}
        <Pager page={view.page} pages={view.pages} />
      </main>
    </Layout>
  )
}

/** Other sites need an absolute address. */
function firstPicture(view: FolderPageView): string | undefined {
  const first = view.files[0]
  return first && new URL(first.thumbnailUrl, view.url).href
}

function contentOf(view: FolderPageView): string {
  const files = count(view.fileCount, 'file')
  return view.folders.length === 0 ? files : `${count(view.folders.length, 'folder')}, ${files}`
}

function Subfolders({ folders }: { folders: FolderPageView['folders'] }) {
  if (folders.length === 0) return null
  return (
    <ul aria-label="Folders" className="subfolders">
      {folders.map((folder) => (
        <li key={folder.url}>
          <a className="subfolder-item" href={folder.url}>
            <Drawing of="folder" size={24} />
            <FileName name={folder.name} />
            <span className="small quiet">
              {folder.fileCount === null ? 'Password needed' : count(folder.fileCount, 'file')}
            </span>
          </a>
        </li>
      ))}
    </ul>
  )
}

/** A gallery when most of the files are pictures or video, else a list. */
function Files({ files }: { files: FolderPageView['files'] }) {
  const visual = files.filter((file) => /^(image|video)\//.test(file.type)).length
  return (
    <ul aria-label="Files" className={visual * 2 > files.length ? 'files gallery' : 'files list'}>
      {files.map((file) => (
        <FileItem file={file} key={file.slug} />
      ))}
    </ul>
  )
}

function Pager({ page, pages }: { page: number; pages: number }) {
  if (pages <= 1) return null
  return (
    <nav aria-label="Pages" className="pager">
      {page > 1 ? (
        <a aria-label="Previous page" className="page-link" href={`?page=${page - 1}`} rel="prev">
          ←
        </a>
      ) : null}
      <span className="quiet">{`Page ${page} of ${pages}`}</span>
      {page < pages ? (
        <a aria-label="Next page" className="page-link" href={`?page=${page + 1}`} rel="next">
          →
        </a>
      ) : null}
    </nav>
  )
}
