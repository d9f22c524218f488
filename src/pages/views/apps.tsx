import { ADMIN_APP, ADMIN_SECTIONS, type AdminPageData, adminPath } from '../../../web/admin/data.ts'
import { FILES_APP, type FilesPageData } from '../../../web/files/data.ts'
import {
  SETTINGS_APP,
  SETTINGS_SECTIONS,
  type SettingsPageData,
  settingsPath,
} from '../../../web/settings/data.ts'
import type { AdminPageView, FilesPageView, SettingsPageView } from '../views.ts'
import type { PageContext } from './context.ts'
import { Layout, NoIndex } from './layout.tsx'
import { SectionsPage } from './sections.tsx'

export function AdminPage({ view, context }: { view: AdminPageView; context: PageContext }) {
  const { locale, texts } = context
  const data: AdminPageData = { ...view, locale, texts: texts.admin.app, reasons: texts.report.reasons }
  return (
    <SectionsPage
      app={ADMIN_APP}
      className="administration"
      context={context}
      current={view.section}
      pathOf={adminPath}
      scripted={{ page: 'admin', data }}
      sections={ADMIN_SECTIONS}
      texts={texts.admin}
    />
  )
}

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

export function SettingsPage({ view, context }: { view: SettingsPageView; context: PageContext }) {
  const { locale, texts } = context
  const data: SettingsPageData = { ...view, locale, texts: texts.settings.app }
  return (
    <SectionsPage
      app={SETTINGS_APP}
      context={context}
      current={view.section}
      pathOf={settingsPath}
      scripted={{ page: 'settings', data }}
      sections={SETTINGS_SECTIONS}
      texts={texts.settings}
    />
  )
}
