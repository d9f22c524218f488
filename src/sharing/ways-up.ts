import * as z from 'zod'
import type { Signing } from '../core/hmac.ts'
import type { Database } from '../database/database.ts'
import type { FolderId } from '../domain/ids.ts'
import { type ChainRow, folderChain } from '../files/folders/folders.rows.ts'

export const WAYS_COOKIE = 'folder_ways'

/** The highest folder of each tree, and of those the newest. */
const MOST_FOLDERS = 20

const PURPOSE = 'folder-ways'
const payload = z.array(z.number())

/**
 * Ancestors that pages may name. A visitor with the address of one file must not be led to its surroundings;
 * a visitor who came from a folder finds the way back. Access is decided independently, at every request.
 */
export interface WaysUp {
  /** From the highest folder in the cookie, outermost first. */
  shown(cookie: string | null, chain: readonly ChainRow[]): readonly ChainRow[]
  /** Null where it stays unchanged. */
  cookieAfter(cookie: string | null, chain: readonly ChainRow[]): Promise<string | null>
}

export function createWaysUp(db: Database, signing: Signing): WaysUp {
  function read(cookie: string | null): FolderId[] {
    if (cookie === null) return []
    const found = payload.safeParse(signing.verify(PURPOSE, cookie))
    return found.success ? found.data.map((id) => id as FolderId) : []
  }

  return {
    shown(cookie, chain) {
      const known = new Set(read(cookie))
      const highest = chain.findIndex(({ id }) => known.has(id))
      return highest === -1 ? [] : chain.slice(highest)
    },

    async cookieAfter(cookie, chain) {
      const folder = chain.at(-1)
      if (folder === undefined) return null
      const known = read(cookie)
      const highest = chain.find(({ id }) => known.includes(id))
      if (highest !== undefined && known.at(-1) === highest.id) return null
      const others = known.filter((id) => id !== highest?.id)
      const kept = highest === undefined ? await notBelow(db, others, folder.id) : others
      return signing.sign(PURPOSE, [...kept, (highest ?? folder).id].slice(-MOST_FOLDERS))
    },
  }
}

async function notBelow(db: Database, folders: readonly FolderId[], top: FolderId): Promise<FolderId[]> {
  const chains = await Promise.all(folders.map((folder) => folderChain(db, folder)))
  return folders.filter((_, at) => chains[at]?.every(({ id }) => id !== top) ?? false)
}
