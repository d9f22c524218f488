/** Where to go on after signing in: a path of this site, whatever was asked for; else to one's own files. */
export function nextPath(text: string | null): string {
  // Two slashes would lead to another host; browsers read a backslash as one.
  return text !== null && /^\/(?![/\\])[\x21-\x5b\x5d-\x7e]{0,500}$/.test(text) ? text : '/files'
}
