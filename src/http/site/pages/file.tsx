import type { FilePageData } from '../../../../web/file/data.ts'
import { Drawing } from '../../../../web/shared/drawing.tsx'
import { Filled } from '../../../../web/shared/filled.tsx'
import type { FilePageView } from '../views.ts'
import type { PageContext } from './context.ts'
import { Layout, LinkPreview } from './layout.tsx'
import { Preview } from './preview.tsx'

export function FilePage({ view, context }: { view: FilePageView; context: PageContext }) {
  const { words, texts } = context
  const size = words.size(view.size)
  const data: FilePageData = { locale: context.locale }
  return (
    <Layout
      context={context}
      head={
        <LinkPreview
          description={`${size} · ${view.type}`}
          image={view.thumbnailUrl}
          large={view.preview?.kind === 'image' || view.preview?.kind === 'video'}
          title={view.name}
          url={view.url}
        />
      }
      scripted={{ page: 'file', data }}
      title={view.name}
    >
      <main className={view.preview === null ? 'file' : 'file file-wide'}>
        <Preview view={view} />
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
            {size} · <time dateTime={view.uploadedAt}>{words.day(view.uploadedAt)}</time>
          </p>
          <a className="button" href={view.downloadUrl} rel="nofollow">
            <Drawing of="download" />
            {texts.file.download}
          </a>
          <p className="small quiet">
            <Filled
              text={texts.file.keptUntil}
              values={{ day: <time dateTime={view.expiresAt}>{words.day(view.expiresAt)}</time> }}
            />
          </p>
        </div>
        <Details context={context} size={size} view={view} />
      </main>
    </Layout>
  )
}

/** Programs read the values here by the label before them, which therefore is the same in every language. */
function Details({ view, size, context }: { view: FilePageView; size: string; context: PageContext }) {
  const { words, texts } = context
  const rows: readonly { label: string; value: string; title?: string }[] = [
    { label: 'Size', value: size, title: words.count(view.size, texts.common.bytes) },
    { label: 'Type', value: view.type },
    { label: 'Uploaded', value: view.uploadedAt },
    { label: 'Views', value: words.number(view.views) },
    { label: 'Downloads', value: words.number(view.downloads) },
    { label: 'SHA-256', value: view.sha256 },
    { label: 'UUID', value: view.uuid },
  ]
  return (
    <section aria-label={texts.file.details} className="details" id="detailsContent">
      {rows.map((row) => (
        <div key={row.label}>
          <span>{row.label}</span>
          <span title={row.title}>{row.value}</span>
        </div>
      ))}
    </section>
  )
}
