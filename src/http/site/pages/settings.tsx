import { pathOf, SECTIONS, SETTINGS_APP, type SettingsPageData } from '../../../../web/settings/data.ts'
import type { SettingsPageView } from '../views.ts'
import type { PageContext } from './context.ts'
import { Layout, NoIndex } from './layout.tsx'

export function SettingsPage({ view, context }: { view: SettingsPageView; context: PageContext }) {
  const { locale, texts } = context
  const { title, pages, sections, app } = texts.settings
  const { scriptNeeded, scriptNeededWhy } = texts.files
  const data: SettingsPageData = { ...view, locale, texts: app }
  return (
    <Layout
      context={context}
      head={<NoIndex />}
      scripted={{ page: 'settings', data }}
      title={`${sections[view.section]} · ${title}`}
    >
      <main className="sections">
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
        <div className="sections-app" id={SETTINGS_APP}>
          <noscript>
            <h2>{scriptNeeded}</h2>
            <p>{scriptNeededWhy}</p>
          </noscript>
        </div>
      </main>
    </Layout>
  )
}
