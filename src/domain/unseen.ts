/** C0, DEL, C1, and every character that changes the direction of the following text. */
export const UNSEEN = /[\p{Cc}\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]/gu
