import { formatSize } from '../../../domain/sizes.ts'
import type { FilePageView } from '../views.ts'
import { Drawing } from './drawing.tsx'
import { Layout, LinkPreview } from './layout.tsx'
import { Preview } from './preview.tsx'
import { count, day, grouped } from './words.ts'

export function FilePage({ view }: { view: FilePageView }) {
  const size = formatSize(view.size)
  return (
    <Layout
      head={
        <LinkPreview
          description={`${size} · ${view.type}`}
          image={view.thumbnailUrl}
          large={view.preview?.kind === 'image' || view.preview?.kind === 'video'}
          title={view.name}
          url={view.url}
        />
      }
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
            {size} · <time dateTime={view.uploadedAt}>{day(view.uploadedAt)}</time>
          </p>
          <a className="button" href={view.downloadUrl} rel="nofollow">
            <Drawing of="download" />
            Download
          </a>
          <p className="small quiet">
            Kept until <time dateTime={view.expiresAt}>{day(view.expiresAt)}</time>, and longer each time
            somebody opens it.
          </p>
        </div>
        <Details size={size} view={view} />
      </main>
    </Layout>
  )
}

/** Programs read the values here by the label before them. */
function Details({ view, size }: { view: FilePageView; size: string }) {
  const rows: readonly { label: string; value: string; title?: string }[] = [
    { label: 'Size', value: size, title: count(view.size, 'byte') },
    { label: 'Type', value: view.type },
    { label: 'Uploaded', value: view.uploadedAt },
    { label: 'Views', value: grouped(view.views) },
    { label: 'Downloads', value: grouped(view.downloads) },
    { label: 'SHA-256', value: view.sha256 },
    { label: 'UUID', value: view.uuid },
  ]
  return (
    <section aria-label="Details" className="details" id="detailsContent">
      {rows.map((row) => (
        <div key={row.label}>
          <span>{row.label}</span>
          <span title={row.title}>{row.value}</span>
        </div>
      ))}
    </section>
  )
}
