import { Button } from '@mantine/core'
import { Drawing } from '../../../../web/shared/drawing.tsx'
import { fill } from '../../../../web/shared/words.ts'
import type { StartPageData } from '../../../../web/start/data.ts'
import type { StartTexts } from '../texts/texts.ts'
import type { StartPageView } from '../views.ts'
import type { PageContext } from './context.ts'
import { Layout, LinkPreview } from './layout.tsx'

export function StartPage({ view, context }: { view: StartPageView; context: PageContext }) {
  const { words } = context
  const texts = context.texts.start
  const data: StartPageData = { locale: context.locale }
  return (
    <Layout
      context={context}
      head={<LinkPreview description={texts.description} title="Holdfast" url={`${view.publicUrl}/`} />}
      scripted={{ page: 'start', data }}
      title={texts.title}
    >
      <main className="start">
        {view.guestUploads ? <UploadForm texts={texts} /> : <KeyNeeded texts={texts} />}
        <div className="small quiet">
          <p>
            {`${fill(texts.limit, { size: words.size(view.maxFileSize) })} `}
            {fill(texts.expiry, { days: words.count(view.inactiveDays, context.texts.common.days) })}
          </p>
          <p>{view.guestUploads ? texts.terminal : texts.terminalWithKey}</p>
          <pre>
            <code>{command(view)}</code>
          </pre>
        </div>
      </main>
    </Layout>
  )
}

/** The file field is the drop zone itself: browsers take dropped files on it without a script. */
function UploadForm({ texts }: { texts: StartTexts }) {
  return (
    <form action="/" encType="multipart/form-data" method="post">
      <div className="drop">
        <div className="drop-line">
          <Drawing of="upload" size={40} />
          <h1>
            <span className="with-mouse">{texts.drop}</span>
            <span className="with-finger">{texts.choose}</span>
          </h1>
        </div>
        <input aria-label={texts.file} name="file" required type="file" />
      </div>
      <Button type="submit">{texts.upload}</Button>
    </form>
  )
}

function KeyNeeded({ texts }: { texts: StartTexts }) {
  return (
    <div className="closed">
      <Drawing of="lock" size={40} />
      <h1>{texts.keyNeeded}</h1>
      <p className="quiet">{texts.keyNeededWhy}</p>
    </div>
  )
}

function command(view: StartPageView): string {
  const key = view.guestUploads ? '' : "-H 'Authorization: Bearer hf_…' "
  return `curl ${key}-F file=@film.mkv ${view.publicUrl}/api/v1/upload`
}
