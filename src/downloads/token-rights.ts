import * as z from 'zod'
import type { Evidence, Requester, SignedRights } from '../domain/access.ts'
import type { AccountId, FolderId, FolderIdentifier, KeyId, SessionId } from '../domain/ids.ts'

/**
 * In whose name an address was signed, with which key or session, and which closed folders their rights lead past. A
 * token of an earlier release names no such folders: it speaks for nobody.
 */
export const rightsFields = {
  a: z.number().nullable(),
  w: z.string().nullable().default(null),
  k: z.number().optional(),
  s: z.number().optional(),
  h: z.array(z.tuple([z.number(), z.number()])).optional(),
  n: z.number().optional(),
}

type RightsFields = z.infer<z.ZodObject<typeof rightsFields>>

export function rightsOf(
  reach: Requester['reach'],
  { closed, closings }: Pick<SignedRights, 'closed' | 'closings'>,
): RightsFields {
  if (reach === null) return { a: null, w: null }
  const { account, within, by } = reach
  return {
    a: account,
    w: within,
    ...(by.kind === 'key' ? { k: by.key } : { s: by.session }),
    h: [...closed],
    ...(closings === null ? {} : { n: closings }),
  }
}

export function rightsIn(fields: RightsFields): NonNullable<Requester['signed']> | null {
  const { a, w, h, n } = fields
  const by = evidenceIn(fields)
  if (a === null || by === null || h === undefined) return null
  return {
    account: a as AccountId,
    within: w as FolderIdentifier | null,
    by,
    closed: new Map(h.map(([folder, closing]) => [folder as FolderId, closing])),
    closings: n ?? null,
  }
}

function evidenceIn({ k, s }: RightsFields): Evidence | null {
  if (k !== undefined) return { kind: 'key', key: k as KeyId }
  return s === undefined ? null : { kind: 'session', session: s as SessionId }
}
