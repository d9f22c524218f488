export function uploadMetadata(metadata: Readonly<Record<string, string>>): string {
  const base64 = (text: string) => btoa(String.fromCodePoint(...new TextEncoder().encode(text)))
  return Object.entries(metadata)
    .map(([key, value]) => `${key} ${base64(value)}`)
    .join(',')
}

export function addressesOfParts(headers: Headers): string[] | null {
  const [, named = null] = /^final;(.+)$/.exec(headers.get('upload-concat') ?? '') ?? []
  return named?.trim().split(/ +/) ?? null
}
