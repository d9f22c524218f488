export type Encoding = 'br' | 'gzip' | 'identity'

/** The smallest form that an Accept-Encoding header (RFC 9110) allows. Without a header, as it is. */
export function acceptedEncoding(header: string): Encoding {
  const qualities = new Map(
    header
      .toLowerCase()
      .split(',')
      .map((part) => {
        const [coding = '', ...parameters] = part.split(';').map((text) => text.trim())
        const quality = parameters.find((text) => text.startsWith('q='))?.slice(2)
        return [coding, quality === undefined ? 1 : Number(quality) || 0]
      }),
  )
  const isWanted = (coding: string) => (qualities.get(coding) ?? qualities.get('*') ?? 0) > 0
  if (isWanted('br')) return 'br'
  return isWanted('gzip') ? 'gzip' : 'identity'
}
