import { createContext, useContext } from 'react'
import { type AppTools, useApp } from '../shared/app/app-context.ts'
import type { SettingsPageData } from './data.ts'

/** What every part of the settings works with. */
interface Settings extends Pick<AppTools, 'words' | 'say'> {
  readonly data: SettingsPageData
  readonly texts: SettingsPageData['texts']
}

export const SettingsContext = createContext<SettingsPageData | null>(null)

export function useSettings(): Settings {
  const { words, say } = useApp()
  const data = useContext(SettingsContext)
  if (data === null) throw new Error('this is a part of the settings')
  return { data, texts: data.texts, words, say }
}
