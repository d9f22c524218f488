/** CORS: callable with a key from pages of any site, or only of this one. */
export const [ANY, OWN] = ['any origin', 'own origin'] as const

/** Body limits in bytes: routes without a body. */
export const NONE = 0
/** A name, a password, a path. */
export const FORM = 8 * 1024
/** JSON of unauthenticated clients: every field at its maximum. */
export const FIELDS = 16 * 1024
/** `FIELDS` with a text of some thousand characters, in any script and escaping. */
export const TEXT = 64 * 1024
/** JSON with all identifiers of an account, or a resource sent back. */
export const DATA = 1024 * 1024
/** A form with a picture of 5 MB. */
export const PICTURE = 6 * 1024 * 1024
/** Files are never read into memory as a whole. */
export const STREAM = 'stream'
