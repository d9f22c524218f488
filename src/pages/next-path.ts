/** The given path if it is on this site, else the file manager. */
export function nextPath(text: string | null): string {
  // `//` would start a host name, and browsers treat a backslash as a slash.
  return text !== null && /^\/(?![/\\])[\x21-\x5b\x5d-\x7e]{0,500}$/.test(text) ? text : '/files'
}
