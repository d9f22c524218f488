import type { FolderPageData } from '../../../web/folder/data.ts'
import { Drawing } from '../../../web/shared/drawings/drawing.tsx'
import { FileName } from '../../../web/shared/file-name.tsx'
import { fill } from '../../../web/shared/words.ts'
import { dayFormat } from '../../domain/days.ts'
import { formatSize } from '../../domain/sizes.ts'
import {
  FILE_SORTS,
  type FolderQuery,
  type FolderViewMode,
  orderAddress,
  pageAddress,
  pagesAround,
  sortedBy,
  viewModeAddress,
} from '../folder-query.ts'
import type { FolderPageView } from '../views.ts'
import { BarrierNote } from './barrier-note.tsx'
import type { PageContext } from './context.ts'
import { CopyLinkButton } from './copy-button.tsx'
import { AddressForPrograms, DownloadByForm } from './download-form.tsx'
import { FileItemView, SaveForm } from './file-item.tsx'
import { Layout, LinkPreview } from './layout.tsx'
import { contentText, LinkHead, LinkSentence } from './link-head.tsx'

export function FolderPageDocument({ view, context }: { view: FolderPageView; context: PageContext }) {
  const texts = context.texts.folder
  const content = contentOf(view, context)
  const title = titleOf(view, context)
  const isEmpty = view.fileCount === 0 && view.folderCount === 0
  const isWall = view.look === 'gallery' && view.files.length > 0
  return (
    <Layout
      context={context}
      head={
        <LinkPreview
          siteName={context.branding.name}
          description={content}
          image={view.cardUrl}
          title={title}
          url={view.url}
        />
      }
      scripted={{ page: 'folder', data: dataOf(view, context) }}
      title={title}
    >
      <main className={isWall ? 'folder folder-wall' : 'folder'}>
        <FoldersAbove above={view.above} context={context} />
        <div className="folder-head">
          <div>
            <h1 className="folder-title">
              {view.name === null && view.notice !== null ? (
                <LinkSentence context={context} notice={view.notice} />
              ) : (
                title
              )}
            </h1>
            {isEmpty || view.notice?.content ? null : <p className="quiet">{content}</p>}
            <Facts view={view} />
          </div>
          <div className="folder-actions">
            <DownloadAll context={context} form={view.downloadForm} totals={view.totals} />
            <CopyLinkButton context={context} url={view.url} />
          </div>
        </div>
        {view.notice === null ? null : (
          <LinkHead context={context} isTitled={view.name !== null} notice={view.notice} />
        )}
        {view.downloadForm === null || view.totals?.files === 0 ? null : (
          <AddressForPrograms context={context} form={view.downloadForm} />
        )}
        {view.barrier === null ? null : <BarrierNote barrier={view.barrier} context={context} />}
        <Subfolders context={context} folders={view.folders} />
        {view.query.page > view.pages ? (
          <PastTheEnd context={context} />
        ) : view.files.length === 0 ? (
          <ToFiles context={context} view={view} />
        ) : (
          <Files {...{ view, context }} />
        )}
        {isEmpty ? (
          <div className="empty ground quiet">
            <Drawing of="folder" size={40} />
            <p>{texts.empty}</p>
          </div>
        ) : null}
        <PagerView context={context} pages={view.pages} query={view.query} />
      </main>
    </Layout>
  )
}

function titleOf({ name, notice }: FolderPageView, context: PageContext): string {
  if (name !== null) return name
  return (notice && contentText(notice, context)) ?? context.texts.madeLink.unnamed
}

function dataOf(view: FolderPageView, { assets, locale, texts }: PageContext): FolderPageData {
  const { fileCount, filesBefore, downloadForm } = view
  return {
    fileCount,
    filesBefore,
    // A limited link shows nothing of its files that is not counted.
    viewerStyles: downloadForm === null ? [assets.pages.file.style, assets.viewerStyle] : null,
    locale,
    texts: texts.folder.viewer,
  }
}

/**
 * English, in this order and without attributes: download programs read the three literally, after the
 * preview's address. People read the line above it.
 */
function Facts({ view: { facts, fileCount } }: { readonly view: FolderPageView }) {
  if (facts === null) return null
  return (
    <div hidden>
      <span>{`Created ${englishDay(facts.createdAt)}`}</span>
      <span>{`${fileCount} ${fileCount === 1 ? 'file' : 'files'}`}</span>
      <span>{formatSize(facts.bytes)}</span>
    </div>
  )
}

const englishDay = dayFormat('en-US', 'UTC', 'medium')

function contentOf(view: FolderPageView, { words, texts }: PageContext): string {
  const { totals, folderCount, fileCount } = view
  // A folder of folders tells what these hold.
  const shown = fileCount === 0 ? (totals?.files ?? 0) : fileCount
  const parts = [words.count(shown, texts.common.files)]
  if (folderCount > 0) parts.unshift(words.count(folderCount, texts.common.folders))
  if (totals !== null && totals.bytes > 0) {
    const size = words.size(totals.bytes)
    parts.push(folderCount > 0 ? fill(texts.folder.inAll, { size }) : size)
  }
  return parts.join(', ')
}

function DownloadAll({
  totals,
  form,
  context,
}: Pick<FolderPageView, 'totals'> & {
  readonly form: FolderPageView['downloadForm']
  readonly context: PageContext
}) {
  const { words, texts } = context
  if (totals?.files === 0) return null
  const label =
    totals === null
      ? texts.folder.downloadAll
      : fill(texts.folder.downloadAllSize, { size: words.size(totals.bytes) })
  if (form !== null) {
    return (
      <DownloadByForm className="button download-all" form={form}>
        {label}
      </DownloadByForm>
    )
  }
  return (
    <a className="button download-all" href="?download=zip" rel="nofollow">
      <Drawing of="download" />
      {label}
    </a>
  )
}

interface FolderProps {
  readonly view: FolderPageView
  readonly context: PageContext
}

function PastTheEnd({ context }: Pick<FolderProps, 'context'>) {
  const texts = context.texts.folder
  return (
    <p className="quiet">
      {texts.pastTheEnd} <a href={pageAddress(1)}>{texts.toFirstPage}</a>
    </p>
  )
}

function ToFiles({ view, context }: FolderProps) {
  if (view.fileCount === 0) return null
  return (
    <a className="to-files" href={pageAddress(view.firstFilePage)}>
      {context.words.count(view.fileCount, context.texts.folder.filesFollow)}
    </a>
  )
}

function Files({ view, context }: FolderProps) {
  return (
    <>
      <SaveForm once={view.downloadForm?.once ?? null} />
      <FolderBar context={context} look={view.look} pages={view.pages} query={view.query} />
      <ul
        aria-label={context.texts.folder.files}
        className={`files ${view.look} by-${view.query.sort.replace('_', '-')}`}
      >
        {view.files.map((file) => (
          <FileItemView context={context} file={file} key={file.path} look={view.look} />
        ))}
      </ul>
    </>
  )
}

interface FolderBarProps {
  readonly query: FolderQuery
  readonly look: FolderViewMode
  readonly pages: number
  readonly context: PageContext
}

function FolderBar({ query, look, pages, context }: FolderBarProps) {
  const texts = context.texts.folder
  return (
    <div className="folder-bar">
      <nav aria-label={texts.sortBy} className="sorts">
        {FILE_SORTS.map((sort) => (
          <a
            aria-current={sort === query.sort ? 'true' : undefined}
            href={orderAddress(sortedBy(query, sort))}
            key={sort}
            rel="nofollow"
          >
            {texts.sorts[sort]}
            {sort === query.sort ? <Direction context={context} order={query.order} /> : null}
          </a>
        ))}
      </nav>
      <nav aria-label={texts.look} className="looks">
        {(['list', 'gallery'] as const).map((each) => (
          <a
            aria-current={each === look ? 'true' : undefined}
            href={viewModeAddress(query, each, pages)}
            key={each}
            rel="nofollow"
            title={texts.looks[each]}
          >
            <Drawing of={each} />
            <span className="unseen">{texts.looks[each]}</span>
          </a>
        ))}
      </nav>
    </div>
  )
}

function Direction({ order, context }: { order: FolderQuery['order']; context: PageContext }) {
  return (
    <>
      <Drawing of={order === 'asc' ? 'up' : 'down'} size={16} />
      <span className="unseen">{context.texts.folder.orders[order]}</span>
    </>
  )
}

type Step = FolderPageView['above'][number]

/** Outermost folder first; collapses the middle of a long path. */
function FoldersAbove(props: { above: readonly Step[]; context: PageContext }) {
  const { above, context } = props
  const [first, ...others] = above
  if (first === undefined) return null
  const last = others.slice(-2)
  const between = others.at(-3)
  return (
    <nav aria-label={context.texts.folder.above}>
      <ol className="above">
        <li>
          <a href={first.url}>
            <Drawing of="folder" />
            <bdi>{first.name ?? context.texts.madeLink.unnamed}</bdi>
          </a>
        </li>
        {between === undefined ? null : (
          <li>
            <a aria-label={between.name ?? context.texts.madeLink.unnamed} href={between.url}>
              …
            </a>
          </li>
        )}
        {last.map((step) => (
          <li key={step.url}>
            <a href={step.url}>
              <bdi>{step.name}</bdi>
            </a>
          </li>
        ))}
      </ol>
    </nav>
  )
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

interface PagerProps {
  readonly query: FolderQuery
  readonly pages: number
  readonly context: PageContext
}

/**
 * Download programs read `class="page-info">1/3<`, and follow `href="?page=2" class="page-link">→<`
 * literally: these attributes must come last.
 */
function PagerView({ query, pages, context }: PagerProps) {
  const { page } = query
  const { folder } = context.texts
  if (pages <= 1 || page > pages) return null
  return (
    <nav aria-label={folder.pages} className="pager">
      {page > 1 ? (
        <a aria-label={folder.previousPage} rel="prev" href={pageAddress(page - 1)} className="page-link">
          ←
        </a>
      ) : null}
      {pagesAround(page, pages).map((each, at) =>
        each === null ? (
          <span className="quiet" key={`after ${at}`}>
            …
          </span>
        ) : (
          <PageNumber context={context} key={each} number={each} {...{ query, pages }} />
        ),
      )}
      {page < pages ? (
        <a aria-label={folder.nextPage} rel="next" href={pageAddress(page + 1)} className="page-link">
          →
        </a>
      ) : null}
      <span className="page-info">{`${page}/${pages}`}</span>
    </nav>
  )
}

function PageNumber({ number, query, pages, context }: PagerProps & { readonly number: number }) {
  const { words, texts } = context
  const label = fill(texts.folder.pageOf, { page: words.number(number), pages: words.number(pages) })
  return (
    <a
      aria-current={number === query.page ? 'page' : undefined}
      aria-label={label}
      href={pageAddress(number)}
      className="page-link"
    >
      {words.number(number)}
    </a>
  )
}
