import * as z from 'zod'
import type { Signing } from '../../core/hmac.ts'
import type { Requester, SignedRights } from '../../domain/access.ts'
import type { Clock } from '../../domain/clock.ts'
import { Refusal } from '../../domain/errors.ts'
import type { FileId, FolderId } from '../../domain/ids.ts'
import { rightsField, rightsIn, rightsOf } from '../content-tokens.ts'
import type { ArchiveSelection } from './archives.ts'

/** Seconds. */
export const ARCHIVE_TOKEN_LIFETIME = 1800

/** Tokens name the rights used, so that access is decided again at every request. */
export interface ArchiveTokens {
  issue(
    reach: NonNullable<Requester['reach']>,
    rights: Pick<SignedRights, 'closed' | 'closings'>,
    selection: ArchiveSelection,
  ): string
  /** Throws Refusal INVALID_TOKEN for a changed or expired token. */
  read(token: string): { readonly requester: Requester; readonly selection: ArchiveSelection }
}

const PURPOSE = 'archive'

const payload = z.object({
  r: rightsField,
  e: z.number(),
  f: z.array(z.number()),
  d: z.array(z.number()),
})

export function createArchiveTokens(signing: Signing, clock: Clock): ArchiveTokens {
  return {
    issue: (reach, rights, { files, folders }) =>
      signing.sign(PURPOSE, {
        r: rightsOf(reach, rights),
        e: Math.floor(clock.now() / 1000) + ARCHIVE_TOKEN_LIFETIME,
        f: files,
        d: folders,
      }),

    read(token) {
      const found = payload.safeParse(signing.verify(PURPOSE, token))
      if (!found.success) throw new Refusal('INVALID_TOKEN', 'This address is not valid; ask for a new one')
      const { e, f, d } = found.data
      if (clock.now() / 1000 >= e) {
        throw new Refusal('INVALID_TOKEN', 'This address has expired; ask for a new one')
      }
      return {
        requester: { reach: null, grants: new Map(), signed: rightsIn(found.data.r) },
        selection: {
          files: f.map((file) => file as FileId),
          folders: d.map((folder) => folder as FolderId),
        },
      }
    },
  }
}
