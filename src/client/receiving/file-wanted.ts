import type { Wanted } from '../downloading.ts'
import type { PublicClient } from '../public-client.ts'

/** Also while the file is being uploaded. Without `name`, the server names it. */
export function fileWanted(client: PublicClient, slug: string, name: string | null, folder: string): Wanted {
  return {
    async address() {
      const signed = await client.sign(slug)
      if (signed === null) return null
      const { server, file, token } = signed
      const url = `${server}/v2/${file}?token=${encodeURIComponent(token)}&download=true`
      return { url, headers: {} }
    },
    arriving: { slug, bytes: (from, signal) => client.arriving(slug, from, signal) },
    name,
    folder,
  }
}
