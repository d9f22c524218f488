/** Headers of tus as clients write and read them. */

export function uploadMetadata(metadata: Readonly<Record<string, string>>): string {
  const base64 = (text: string) => btoa(String.fromCodePoint(...new TextEncoder().encode(text)))
  return Object.entries(metadata)
    .map(([key, value]) => `${key} ${base64(value)}`)
    .join(',')
}

/** The addresses of an upload's parts; null where it takes its bytes itself. */
export function addressesOfParts(headers: Headers): string[] | null {
  const [, named = null] = /^final;(.+)$/.exec(headers.get('upload-concat') ?? '') ?? []
  return named?.trim().split(/ +/) ?? null
}
