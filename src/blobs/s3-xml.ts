/** For the few elements needed from a trusted store: no attributes, comments or CDATA. */

export function elements(xml: string, name: string): string[] {
  return [...xml.matchAll(new RegExp(`<${name}(?:\\s[^>]*)?>([\\s\\S]*?)</${name}\\s*>`, 'g'))].map(
    ([, content]) => content ?? '',
  )
}

/** Null also when it is empty. */
export function text(xml: string, name: string): string | null {
  const [content] = elements(xml, name)
  return content === undefined || content === '' ? null : decode(content)
}

export function isErrorDocument(xml: string): boolean {
  return /^\s*(?:<\?xml[^>]*\?>\s*)?<Error[\s>]/.test(xml)
}

export function encode(value: string): string {
  return value
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
}

const named = new Map([
  ['amp', '&'],
  ['lt', '<'],
  ['gt', '>'],
  ['quot', '"'],
  ['apos', "'"],
])

function decode(content: string): string {
  return content.replaceAll(/&(?:#x([0-9a-f]{1,6})|#(\d{1,7})|(\w+));/gi, (whole, hex, decimal, name) => {
    if (name !== undefined) return named.get(name) ?? whole
    const point = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16)
    return point <= 0x10ffff ? String.fromCodePoint(point) : whole
  })
}
