/** Languages of the site and its mails. */
export type Language = 'en' | 'de'
