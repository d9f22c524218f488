import { FILES_APP, type FilesPageData } from '../../../web/files/data.ts'
import type { FilesPageView } from '../views.ts'
import type { PageContext } from './context.ts'
import { Layout, NoIndex } from './layout.tsx'

export function FilesPage({ view, context }: { view: FilesPageView; context: PageContext }) {
  const { locale, texts } = context
  const { title, scriptNeeded, scriptNeededWhy, app } = texts.files
  const data: FilesPageData = { ...view, locale, texts: app, uploads: texts.start.app }
  return (
    <Layout context={context} head={<NoIndex />} scripted={{ page: 'files', data }} title={title}>
      <main className="files">
        <h1 className="off-screen">{title}</h1>
        <div id={FILES_APP}>
          <noscript>
            <div className="message">
              <h2>{scriptNeeded}</h2>
              <p>{scriptNeededWhy}</p>
            </div>
          </noscript>
        </div>
      </main>
    </Layout>
  )
}
