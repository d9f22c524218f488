import type { FilePageData } from '../../../web/file/data.ts'
import { Drawing } from '../../../web/shared/drawings/drawing.tsx'
import { Filled } from '../../../web/shared/filled.tsx'
import { extensionOf } from '../../domain/file-name.ts'
import { iconKindOf } from '../../domain/icon-kind.ts'
import type { FilePageView } from '../views.ts'
import type { PageContext } from './context.ts'
import { AddressForPrograms, DownloadByForm } from './download-form.tsx'
import { FileDetails } from './file-details.tsx'
import { FileLink } from './file-link.tsx'
import { Layout, LinkPreview } from './layout.tsx'
import { LinkNote } from './link-note.tsx'
import { PreviewView } from './preview.tsx'
import { Day } from './times.tsx'

interface Props {
  readonly view: FilePageView
  readonly context: PageContext
}

export function FilePageDocument({ view, context }: Props) {
  const { words, texts } = context
  return (
    <Layout
      context={context}
      head={
        <LinkPreview
          description={`${kindOf(view, context)} · ${words.size(view.size)}`}
          image={view.thumbnailUrl}
          largeImage={view.pictureUrl === null ? null : new URL(view.pictureUrl, view.url).href}
          media={mediaOf(view)}
          title={view.name}
          url={view.url}
        />
      }
      scripted={{ page: 'file', data: dataOf(view, context) }}
      title={view.name}
    >
      <main className={view.preview === null ? 'file' : 'file file-wide'}>
        <PreviewView context={context} view={view} />
        <div className="facts">
          {view.folder === null ? null : (
            <a className="up" href={view.folder.url}>
              <Drawing of="folder" />
              <bdi>{view.folder.name}</bdi>
            </a>
          )}
          <h1>
            <bdi>{view.name}</bdi>
          </h1>
          <p className="quiet">
            {`${kindOf(view, context)} · ${words.size(view.size)} · `}
            <Day context={context} iso={view.uploadedAt} />
            {view.downloads === 0 ? null : ` · ${words.count(view.downloads, texts.file.downloads)}`}
          </p>
          {view.notice === null ? null : <LinkNote context={context} notice={view.notice} />}
          <DownloadOrDamage context={context} view={view} />
          <FileLink context={context} view={view} />
          {view.expiresAt === null ? null : (
            <p className="small quiet">
              <Filled
                text={texts.file.keptUntil}
                values={{ day: <Day context={context} iso={view.expiresAt} /> }}
              />
            </p>
          )}
          {view.reportUrl === null ? null : (
            <a className="up small" href={view.reportUrl} rel="nofollow">
              <Drawing of="flag" />
              {texts.report.link}
            </a>
          )}
        </div>
        <FileDetails context={context} view={view} />
      </main>
    </Layout>
  )
}

function DownloadOrDamage({ view, context }: Props) {
  const { texts } = context
  if (view.damage === null && view.downloadForm !== null) {
    return (
      <>
        <DownloadByForm className="button" form={view.downloadForm}>
          {texts.file.download}
        </DownloadByForm>
        <AddressForPrograms context={context} form={view.downloadForm} />
      </>
    )
  }
  if (view.damage === null) {
    return (
      <a className="button" href={view.downloadUrl} rel="nofollow">
        <Drawing of="download" />
        {texts.file.download}
      </a>
    )
  }
  const words = view.damage === 'owner' ? texts.file.damaged : texts.errors.codes.FILE_DAMAGED
  return (
    <div className="barrier" role="alert">
      <Drawing of="alert" />
      <div>
        <strong>{words.title}</strong>
        <p>{words.message}</p>
      </div>
    </div>
  )
}

const SHORT_EXTENSION = /^[a-z0-9]{1,5}$/

function kindOf({ name, type }: FilePageView, { texts }: PageContext): string {
  const extension = extensionOf(name)
  // For plain text the extension is more specific.
  const said = iconKindOf(type === 'text/plain' ? '' : type, extension)
  const kind = texts.file.kinds[type === 'text/plain' && said === 'other' ? 'text' : said]
  return SHORT_EXTENSION.test(extension) ? `${kind} (${extension.toUpperCase()})` : kind
}

/** Other sites need a permanent address. */
function mediaOf({ preview, url, type }: FilePageView) {
  if (preview?.kind !== 'video' && preview?.kind !== 'audio') return null
  return { kind: preview.kind, url: `${url}?view=1`, type }
}

function dataOf(view: FilePageView, { assets, locale, texts }: PageContext): FilePageData {
  const { name, size, sha256, downloadUrl, pictureUrl, preview } = view
  const worker = (of: string) => assets.workers[`file/${of}-worker`] ?? ''
  return {
    locale,
    name,
    size,
    sha256,
    downloadUrl,
    pictureUrl,
    preview:
      preview === null
        ? null
        : {
            kind: preview.kind,
            url: preview.url,
            rawUrl: preview.rawUrl,
            isSmaller: preview.screen !== null && preview.opens,
          },
    parts: {
      codeWorker: worker('code'),
      markdownWorker: worker('markdown'),
      hashWorker: worker('hash'),
      pdfWorker: worker('pdf'),
      pdfData: assets.pdfData,
    },
    texts: texts.file.script,
  }
}
