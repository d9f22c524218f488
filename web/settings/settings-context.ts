import { createContext, useContext } from 'react'
import type { Words } from '../shared/words.ts'
import type { SettingsPageData } from './data.ts'

/** What every part of the settings works with. */
export interface Settings {
  readonly data: SettingsPageData
  readonly texts: SettingsPageData['texts']
  readonly words: Words
  /** Shows what was done, and tells it to who listens. */
  say(text: string): void
}

export const SettingsContext = createContext<Settings | null>(null)

export function useSettings(): Settings {
  const settings = useContext(SettingsContext)
  if (settings === null) throw new Error('this is a part of the settings')
  return settings
}
