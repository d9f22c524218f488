import { ADMIN_APP, ADMIN_SECTIONS, type AdminPageData, adminPath } from '../../../web/admin/data.ts'
import type { AdminPageView } from '../views.ts'
import type { PageContext } from './context.ts'
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
