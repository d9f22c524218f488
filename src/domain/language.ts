/** In which people are spoken to: there are texts for each. */
export type Language = 'en' | 'de'
