import { App } from '../shared/app/app.tsx'
import { AccountSection } from './account-section.tsx'
import type { SettingsPageData, SettingsSection } from './data.ts'
import { KeysSection } from './keys-section.tsx'
import { RequestsSection } from './requests-section.tsx'
import { SecuritySection } from './security-section.tsx'
import { SettingsContext } from './settings-context.ts'
import { StorageSection } from './storage-section.tsx'
import { WebhooksSection } from './webhooks/webhooks-section.tsx'

/** One page of the settings. */
export function SettingsApp({ data }: { data: SettingsPageData }) {
  return (
    <App locale={data.locale} texts={data.texts.common}>
      <SettingsContext value={data}>
        <SectionOf section={data.section} />
      </SettingsContext>
    </App>
  )
}

function SectionOf({ section }: { section: SettingsSection }) {
  switch (section) {
    case 'storage':
      return (
        <>
          <StorageSection />
          <RequestsSection />
        </>
      )
    case 'keys':
      return <KeysSection />
    case 'webhooks':
      return <WebhooksSection />
    case 'security':
      return <SecuritySection />
    case 'account':
      return <AccountSection />
  }
}
