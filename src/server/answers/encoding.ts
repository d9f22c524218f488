export type Encoding = 'br' | 'gzip' | 'identity'

/** Smallest encoding that Accept-Encoding (RFC 9110) allows; `identity` without a header. */
export function acceptedEncoding(header: string): Encoding {
  const qualities = qualitiesOf(header)
  if (isWanted(qualities, 'br')) return 'br'
  return isWanted(qualities, 'gzip') ? 'gzip' : 'identity'
}

export function acceptsGzip(header: string): boolean {
  return isWanted(qualitiesOf(header), 'gzip')
}

type Qualities = ReadonlyMap<string, number>

function qualitiesOf(header: string): Qualities {
  return new Map(
    header
      .toLowerCase()
      .split(',')
      .map((part) => {
        const [coding = '', ...parameters] = part.split(';').map((text) => text.trim())
        const quality = parameters.find((text) => text.startsWith('q='))?.slice(2)
        return [coding, quality === undefined ? 1 : Number(quality) || 0]
      }),
  )
}

function isWanted(qualities: Qualities, coding: string): boolean {
  return (qualities.get(coding) ?? qualities.get('*') ?? 0) > 0
}
