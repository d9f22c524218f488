import { useEffect, useMemo, useState } from 'react'
import { ThemeProvider } from '../shared/theme-provider.tsx'
import { createWords } from '../shared/words.ts'
import { AccountSection } from './account-section.tsx'
import type { Section, SettingsPageData } from './data.ts'
import { KeysSection } from './keys-section.tsx'
import { RequestsSection } from './requests-section.tsx'
import { SecuritySection } from './security-section.tsx'
import { SettingsContext } from './settings-context.ts'
import { StorageSection } from './storage-section.tsx'

/** How long it is shown what was done. */
const MOMENT = 6000

/** One page of the settings. */
export function SettingsApp({ data }: { data: SettingsPageData }) {
  const [said, say] = useState('')
  const words = useMemo(() => createWords(data.locale), [data])
  const settings = useMemo(() => ({ data, texts: data.texts, words, say }), [data, words])
  useEffect(() => {
    if (said === '') return
    const timer = setTimeout(say, MOMENT, '')
    return () => clearTimeout(timer)
  }, [said])
  return (
    <ThemeProvider>
      <SettingsContext value={settings}>
        <SectionOf section={data.section} />
        <p className="said" role="status">
          {said}
        </p>
      </SettingsContext>
    </ThemeProvider>
  )
}

function SectionOf({ section }: { section: Section }) {
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
    case 'security':
      return <SecuritySection />
    case 'account':
      return <AccountSection />
  }
}
