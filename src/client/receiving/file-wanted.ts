import type { Wanted } from '../downloading.ts'
import type { PublicSide } from '../public-side.ts'

/** A file by its slug, also while it is being uploaded. `name` null: the server tells it. */
export function fileWanted(side: PublicSide, slug: string, name: string | null, folder: string): Wanted {
  return {
    async address() {
      const signed = await side.sign(slug)
      if (signed === null) return null
      const { server, file, token } = signed
      const url = `${server}/v2/${file}?token=${encodeURIComponent(token)}&download=true`
      return { url, headers: {} }
    },
    arrival: { slug, bytes: (from, signal) => side.arriving(slug, from, signal) },
    name,
    folder,
  }
}
