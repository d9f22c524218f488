import type { LegalPageView } from '../views.ts'
import type { PageContext } from './context.ts'
import { Layout } from './layout.tsx'
import { markdownHtml } from './markdown-html.ts'

export function LegalPageDocument({ view, context }: { view: LegalPageView; context: PageContext }) {
  const title = context.texts.legal[view.page]
  return (
    <Layout context={context} title={title}>
      <main className="guide">
        <article>
          <h1>{title}</h1>
          <div dangerouslySetInnerHTML={{ __html: markdownHtml(view.markdown) }} />
        </article>
      </main>
    </Layout>
  )
}
