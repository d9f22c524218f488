import { sortedByName } from '../domain/sort-key.ts'
import type { FileListRow } from '../files/file-lists.rows.ts'
import type { Call } from '../server/call.ts'
import type { LinkTargets } from '../sharing/links/link-access.ts'
import { fileItem } from './folder-contents.ts'
import { type FolderOrder, readFolderQuery } from './folder-query.ts'
import { defaultViewMode, rememberedViewMode, rememberViewMode } from './folder-view-mode.ts'
import type { LinkPlace } from './link-place.ts'
import type { PagesPart } from './pages.part.ts'
import type { FolderPageView } from './views.ts'

export function bundlePage(
  call: Call,
  { pages }: { readonly pages: PagesPart },
  place: LinkPlace,
): Promise<Response> {
  const { targets, pathOf, pictureOf } = place
  const query = { ...readFolderQuery(call.url.searchParams, null), page: 1 }
  const files = ordered(targets.files, query).map((file) =>
    fileItem(file, { fileAt: ({ id }) => pathOf({ kind: 'file', id }), pictureOf }),
  )
  const view: FolderPageView = {
    name: place.title,
    url: call.site.publicUrl + place.path,
    above: [],
    folders: targets.folders.map(({ id, name, file_count: fileCount }) => ({
      name,
      url: pathOf({ kind: 'folder', id }),
      fileCount,
    })),
    files,
    folderCount: targets.folders.length,
    fileCount: files.length,
    facts: null,
    cover: null,
    totals: totalsOf(targets),
    query,
    look: query.look ?? rememberedViewMode(call.request) ?? defaultViewMode(files),
    pages: 1,
    firstFilePage: 1,
    barrier: null,
    notice: place.notice,
    downloadForm: place.formFor(null),
  }
  return rememberViewMode(call, pages, view)
}

function ordered(files: readonly FileListRow[], { sort, order }: FolderOrder): readonly FileListRow[] {
  const growing =
    sort === 'name'
      ? sortedByName(files, ({ name }) => name)
      : files.toSorted((a, b) => a[sort] - b[sort] || a.id - b.id)
  return order === 'asc' ? growing : growing.toReversed()
}

/** A target inside a chosen folder counts twice, as it is twice in the zip. */
function totalsOf({ files, folders }: LinkTargets): { readonly files: number; readonly bytes: number } {
  return {
    files: files.length + folders.reduce((sum, { tree_files }) => sum + tree_files, 0),
    bytes:
      files.reduce((sum, { size }) => sum + size, 0) +
      folders.reduce((sum, { tree_bytes }) => sum + tree_bytes, 0),
  }
}
