const SPECIAL = new Map([
  ['etag', 'ETag'],
  ['www-authenticate', 'WWW-Authenticate'],
])
const written = new Map<string, string>(SPECIAL)

/** Headers keeps names in lower case. */
function headerName(name: string): string {
  const known = written.get(name)
  if (known !== undefined) return known
  const made = name.replaceAll(/(?<=^|-)[a-z]/g, (letter) => letter.toUpperCase())
  written.set(name, made)
  return made
}

export function namedHeaders(headers: Headers): string[] {
  const named: string[] = []
  headers.forEach((value, name) => {
    named.push(headerName(name), value)
  })
  return named
}
