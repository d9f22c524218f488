export type Language = 'en' | 'de'
