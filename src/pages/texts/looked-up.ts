/** For keys from the server or a page, which may lack a text. */
export function lookedUp(texts: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return texts
}
