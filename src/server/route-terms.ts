/** CORS: routes callable from pages of any site with a key, or from pages of this one only. */
export const [ANY, OWN] = ['any origin', 'own origin'] as const

/** Body limit in bytes of routes that read no body. */
export const NONE = 0
/** Body limit for forms: a name, a password, a path. */
export const FORM = 8 * 1024
/** Body limit for JSON of somebody who is not known yet: every field at its maximum. */
export const FIELDS = 16 * 1024
/** The same for a text of some thousand characters besides other fields, in any script and escaping. */
export const TEXT = 64 * 1024
/** Body limit for JSON: lists of all of an account's identifiers, and what was read, sent back. */
export const DATA = 1024 * 1024
/** Body limit for a form with a picture of 5 MB. */
export const PICTURE = 6 * 1024 * 1024
/** Bodies of files, which are never read into memory as a whole. */
export const STREAM = 'stream'
