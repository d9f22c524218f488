import * as z from 'zod'
import type { Asker } from '../domain/access.ts'
import type { Clock } from '../domain/clock.ts'
import { Refusal } from '../domain/errors.ts'
import type { AccountId, FileId, FolderId, FolderIdentifier } from '../domain/ids.ts'
import type { Selection } from './archives.ts'
import type { Signing } from './signing.ts'
import { evidenceFields, evidenceIn, evidenceOf } from './token-evidence.ts'

/** Seconds a signed address of an archive is good for. */
export const ARCHIVE_TOKEN_LIFETIME = 1800

/** A signed address names the files and folders and what was within reach of whoever asked, so that access can be decided again at every request. */
export interface ArchiveTokens {
  issue(reach: NonNullable<Asker['reach']>, selection: Selection): string
  /** Throws Refusal INVALID_TOKEN when it was changed or is too old. */
  read(token: string): { readonly asker: Asker; readonly selection: Selection }
}

const PURPOSE = 'archive'

const payload = z.object({
  a: z.number(),
  w: z.string().nullable().default(null),
  ...evidenceFields,
  e: z.number(),
  f: z.array(z.number()),
  d: z.array(z.number()).default([]),
})

export function createArchiveTokens(signing: Signing, clock: Clock): ArchiveTokens {
  return {
    issue: ({ account, within, by }, { files, folders }) =>
      signing.sign(PURPOSE, {
        a: account,
        w: within,
        ...evidenceOf(by),
        e: Math.floor(clock.now() / 1000) + ARCHIVE_TOKEN_LIFETIME,
        f: files,
        d: folders,
      }),

    read(token) {
      const found = payload.safeParse(signing.verify(PURPOSE, token))
      if (!found.success) throw new Refusal('INVALID_TOKEN', 'This address is not valid; ask for a new one')
      const { a, w, e, f, d } = found.data
      if (clock.now() / 1000 >= e) {
        throw new Refusal('INVALID_TOKEN', 'This address has expired; ask for a new one')
      }
      const by = evidenceIn(found.data)
      if (by === null) throw new Refusal('INVALID_TOKEN', 'This address is not valid; ask for a new one')
      return {
        asker: {
          reach: { account: a as AccountId, within: w as FolderIdentifier | null, by },
          grants: new Map(),
        },
        selection: {
          files: f.map((file) => file as FileId),
          folders: d.map((folder) => folder as FolderId),
        },
      }
    },
  }
}
