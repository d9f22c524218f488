import type { SettingsTexts } from './texts.ts'

/** The pages of the settings, each at an address of its own. */
export const SETTINGS_SECTIONS = ['storage', 'keys', 'webhooks', 'security', 'account'] as const

export type SettingsSection = (typeof SETTINGS_SECTIONS)[number]

export function settingsPath(section: SettingsSection): string {
  return section === 'storage' ? '/settings' : `/settings/${section}`
}

/** What the server tells the script of the page, as JSON in `#page-data`. */
export interface SettingsPageData {
  readonly locale: string
  readonly texts: SettingsTexts
  readonly section: SettingsSection
  readonly username: string
  /** Whether there is anything to set about mail: the server sends it, or the account has an address. */
  readonly hasMail: boolean
  /** The public address, without a trailing slash. */
  readonly publicUrl: string
}

/** The element that the script fills. */
export const SETTINGS_APP = 'settings-app'
