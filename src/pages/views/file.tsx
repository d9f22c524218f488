import type { FilePageData } from '../../../web/file/data.ts'
import { Drawing } from '../../../web/shared/drawings/drawing.tsx'
import { Filled } from '../../../web/shared/filled.tsx'
import { createWords } from '../../../web/shared/words.ts'
import { extensionOf } from '../../domain/file-name.ts'
import { iconKindOf } from '../../domain/icon-kind.ts'
import type { FilePageView } from '../views.ts'
import { BarrierNote } from './barrier-note.tsx'
import type { PageContext } from './context.ts'
import { CopyLinkButton } from './copy-button.tsx'
import { AddressForPrograms, DownloadByForm } from './download-form.tsx'
import { Layout, LinkPreview } from './layout.tsx'
import { LinkHead } from './link-head.tsx'
import { PreviewView } from './preview.tsx'
import { QrCode } from './qr-code.tsx'
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
          siteName={context.branding.name}
          description={`${kindOf(view, context)} · ${words.size(view.size)}`}
          image={view.cardUrl}
          oembed={view.oembedUrl}
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
              <bdi>{view.folder.name ?? texts.madeLink.unnamed}</bdi>
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
          {view.notice === null ? null : <LinkHead context={context} isTitled notice={view.notice} />}
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

interface DetailsProps {
  readonly view: FilePageView
  readonly context: PageContext
}

/** For programs, which parse English sizes. */
const ENGLISH = createWords('en-GB', 'UTC')

/** Programs parse this: in English and in a fixed order. */
function FileDetails({ view, context }: DetailsProps) {
  const rows: readonly (readonly [label: string, value: string])[] = [
    ...(view.uuid === null ? [] : [['UUID', view.uuid] as const]),
    ['Type', view.type],
    ['Uploaded', view.uploadedAt],
    ['Size', ENGLISH.size(view.size)],
    ['SHA-256', view.sha256],
    ['Bytes', String(view.size)],
    ['Views', String(view.views)],
    ['Downloads', String(view.downloads)],
    ['Verified', view.verifiedAt ?? 'Not since it was stored'],
  ]
  return (
    <details className="details">
      <summary>{context.texts.file.details}</summary>
      <div className="details-rows" id="detailsContent" lang="en">
        {rows.map(([label, value]) => (
          <div key={label}>
            <span>{label}</span>
            <span>{value}</span>
          </div>
        ))}
      </div>
      <Verify context={context} />
    </details>
  )
}

/** Hidden without scripts, which do the verification. */
function Verify({ context }: { context: PageContext }) {
  const { texts } = context
  return (
    <div className="verify">
      <p className="quiet">{texts.file.verifyWhy}</p>
      <label className="button button-quiet">
        <Drawing of="verify" />
        {texts.file.verify}
        <input id="verify-file" type="file" />
      </label>
      <progress aria-label={texts.file.verify} hidden id="verify-progress" max={1} />
      <p id="verify-result" role="status" />
    </div>
  )
}

interface LinkProps {
  readonly view: FilePageView
  readonly context: PageContext
}

/** Shown in full, so that it can be selected and copied by hand. */
function FileLink({ view, context }: LinkProps) {
  const { texts } = context
  const isPrivate = view.barrier?.kind === 'private'
  return (
    <>
      {view.barrier === null ? null : <BarrierNote barrier={view.barrier} context={context} />}
      <div className="link">
        <p className="link-text">{view.url}</p>
        <CopyLinkButton context={context} url={view.url} />
      </div>
      {isPrivate ? null : (
        <details className="qr">
          <summary>
            <Drawing of="qrcode" />
            {texts.file.qrCode}
          </summary>
          <QrCode label={`${texts.file.link}: ${view.url}`} text={view.url} />
        </details>
      )}
    </>
  )
}
