import { formatSize } from '../../../domain/sizes.ts'
import type { StartPageView } from '../views.ts'
import { Drawing } from './drawing.tsx'
import { Layout, LinkPreview } from './layout.tsx'
import { count } from './words.ts'

const DESCRIPTION = 'Put a file in, get a short link out.'

export function StartPage({ view }: { view: StartPageView }) {
  return (
    <Layout
      head={<LinkPreview description={DESCRIPTION} title="Holdfast" url={`${view.publicUrl}/`} />}
      title="Files in, links out"
    >
      <main className="start">
        {view.guestUploads ? <UploadForm /> : <KeyNeeded />}
        <div className="small quiet">
          <p>
            {`Up to ${formatSize(view.maxFileSize)} a file. `}
            {`A file that nobody opens for ${count(view.inactiveDays, 'day')} is removed.`}
          </p>
          <p>{view.guestUploads ? 'From a terminal:' : 'From a terminal, with your key:'}</p>
          <pre>
            <code>{command(view)}</code>
          </pre>
        </div>
      </main>
    </Layout>
  )
}

/** The file field is the drop zone itself: browsers take dropped files on it without a script. */
function UploadForm() {
  return (
    <form action="/" encType="multipart/form-data" method="post">
      <div className="drop">
        <div className="drop-line">
          <Drawing of="upload" size={40} />
          <h1>
            <span className="with-mouse">Drop a file to get a link</span>
            <span className="with-finger">Choose a file to get a link</span>
          </h1>
        </div>
        <input aria-label="File" name="file" required type="file" />
      </div>
      <button className="button" type="submit">
        Upload and get a link
      </button>
    </form>
  )
}

function KeyNeeded() {
  return (
    <div className="closed">
      <Drawing of="lock" size={40} />
      <h1>Uploads need an API key</h1>
      <p className="quiet">Whoever runs this server can give you one. Links to files work without it.</p>
    </div>
  )
}

function command(view: StartPageView): string {
  const key = view.guestUploads ? '' : "-H 'Authorization: Bearer hf_…' "
  return `curl ${key}-F file=@film.mkv ${view.publicUrl}/api/v1/upload`
}
