import type { settingsEn } from '../../src/pages/texts/settings-en.ts'

/** What the settings say, in the shape of the English. */
export type SettingsTexts = (typeof settingsEn)['app']
