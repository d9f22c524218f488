/** C0, DEL, C1, line separators, and every character that changes the direction of the following text. */
export const UNSEEN = /[\p{Cc}\u061C\u200E\u200F\u2028\u2029\u202A-\u202E\u2066-\u2069]/gu

/**
 * The same but for direction marks, which Hebrew and Arabic need, and which turn nothing beyond the text that they are in,
 * since pages isolate it.
 */
export const UNSEEN_BUT_MARKS = /[\p{Cc}\u2028\u2029\u202A-\u202E\u2066-\u2069]/gu
