import {
  SETTINGS_APP,
  SETTINGS_SECTIONS,
  type SettingsPageData,
  settingsPath,
} from '../../../web/settings/data.ts'
import type { SettingsPageView } from '../views.ts'
import type { PageContext } from './context.ts'
import { SectionsPage } from './sections.tsx'

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
