import type { FilePageData } from '../../../../web/file/data.ts'
import { Drawing } from '../../../../web/shared/drawing.tsx'
import { Filled } from '../../../../web/shared/filled.tsx'
import type { FilePageView } from '../views.ts'
import type { PageContext } from './context.ts'
import { Layout, LinkPreview } from './layout.tsx'
import { Preview } from './preview.tsx'
import { QrCode } from './qr-code.tsx'

interface Props {
  readonly view: FilePageView
  readonly context: PageContext
}

export function FilePage({ view, context }: Props) {
  const { words, texts } = context
  return (
    <Layout
      context={context}
      head={
        <LinkPreview
          description={`${words.size(view.size)} · ${view.type}`}
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
        <Preview context={context} view={view} />
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
            {words.size(view.size)} · <time dateTime={view.uploadedAt}>{words.day(view.uploadedAt)}</time>
            {view.downloads === 0 ? null : ` · ${words.count(view.downloads, texts.file.downloads)}`}
          </p>
          <a className="button" href={view.downloadUrl} rel="nofollow">
            <Drawing of="download" />
            {texts.file.download}
          </a>
          <Link context={context} view={view} />
          <p className="small quiet">
            <Filled
              text={texts.file.keptUntil}
              values={{ day: <time dateTime={view.expiresAt}>{words.day(view.expiresAt)}</time> }}
            />
          </p>
          <a className="up small" href={view.reportUrl} rel="nofollow">
            <Drawing of="flag" />
            {texts.report.link}
          </a>
        </div>
        <Details context={context} view={view} />
      </main>
    </Layout>
  )
}

/** Other sites need an address that lasts. */
function mediaOf({ preview, url, type }: FilePageView) {
  if (preview?.kind !== 'video' && preview?.kind !== 'audio') return null
  return { kind: preview.kind, url: `${url}?view=1`, type }
}

function dataOf(view: FilePageView, { assets, locale, texts }: PageContext): FilePageData {
  const { name, size, sha256, url, downloadUrl, pictureUrl, preview } = view
  const worker = (of: string) => assets.workers[`file/${of}-worker`] ?? ''
  return {
    locale,
    name,
    size,
    sha256,
    url,
    downloadUrl,
    pictureUrl,
    preview: preview === null ? null : { kind: preview.kind, url: preview.url },
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

/** The address of the page, to be passed on. Without scripts it can be marked and copied by hand. */
function Link({ view, context }: Props) {
  const { texts } = context
  return (
    <>
      <div className="link">
        <input aria-label={texts.file.link} id="link" readOnly value={view.url} />
        <button className="button button-quiet" id="copy-link" type="button">
          <Drawing of="copy" />
          {texts.file.copy}
        </button>
      </div>
      <p className="small copy-said" id="copy-said" role="status" />
      <details className="qr">
        <summary>
          <Drawing of="qrcode" />
          {texts.file.qrCode}
        </summary>
        <QrCode label={`${texts.file.link}: ${view.url}`} text={view.url} />
      </details>
    </>
  )
}

/** Programs read the values here by the label before them, which therefore is the same in every language. */
function Details({ view, context }: Props) {
  const { words, texts } = context
  const rows: readonly { label: string; value: string; title?: string }[] = [
    { label: 'Size', value: words.size(view.size), title: words.count(view.size, texts.common.bytes) },
    { label: 'Type', value: view.type },
    { label: 'Uploaded', value: view.uploadedAt },
    { label: 'Views', value: words.number(view.views) },
    { label: 'Downloads', value: words.number(view.downloads) },
    { label: 'SHA-256', value: view.sha256 },
    { label: 'UUID', value: view.uuid },
  ]
  return (
    <section aria-label={texts.file.details} className="details">
      <div className="details-rows" id="detailsContent">
        {rows.map((row) => (
          <div key={row.label}>
            <span>{row.label}</span>
            <span title={row.title}>{row.value}</span>
          </div>
        ))}
      </div>
      <Verify context={context} />
    </section>
  )
}

/** Shown where there are scripts; nothing else could do it. */
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
