import { ADMIN_APP, type AdminPageData, pathOf, SECTIONS } from '../../../../web/admin/data.ts'
import type { AdminPageView } from '../views.ts'
import type { PageContext } from './context.ts'
import { Layout, NoIndex } from './layout.tsx'

export function AdminPage({ view, context }: { view: AdminPageView; context: PageContext }) {
  const { locale, texts } = context
  const { title, pages, sections, app } = texts.admin
  const { scriptNeeded, scriptNeededWhy } = texts.files
  const data: AdminPageData = { ...view, locale, texts: app, reasons: texts.report.reasons }
  return (
    <Layout
      context={context}
      head={<NoIndex />}
      scripted={{ page: 'admin', data }}
      title={`${sections[view.section]} · ${title}`}
    >
      <main className="sections administration">
        <h1>{title}</h1>
        <nav aria-label={pages} className="page-nav">
          {SECTIONS.map((section) => (
            <a
              aria-current={section === view.section ? 'page' : undefined}
              href={pathOf(section)}
              key={section}
            >
              {sections[section]}
            </a>
          ))}
        </nav>
        <div className="sections-app" id={ADMIN_APP}>
          <noscript>
            <h2>{scriptNeeded}</h2>
            <p>{scriptNeededWhy}</p>
          </noscript>
        </div>
      </main>
    </Layout>
  )
}
