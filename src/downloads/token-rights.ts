import * as z from 'zod'
import type { Requester, SignedRights } from '../domain/access.ts'
import type { AccountId, FolderId, FolderIdentifier, KeyId, SessionId } from '../domain/ids.ts'

/**
 * In whose name an address was signed, with which key or session, and which closed folders their rights lead past. Null:
 * nobody's.
 */
export const rightsField = z
  .object({
    a: z.number(),
    w: z.string().nullable(),
    b: z.tuple([z.enum(['key', 'session']), z.number()]),
    h: z.array(z.tuple([z.number(), z.number()])),
    n: z.number().nullable(),
  })
  .nullable()

type RightsField = z.infer<typeof rightsField>

export function rightsOf(
  reach: Requester['reach'],
  { closed, closings }: Pick<SignedRights, 'closed' | 'closings'>,
): RightsField {
  if (reach === null) return null
  const { account, within, by } = reach
  return {
    a: account,
    w: within,
    b: by.kind === 'key' ? ['key', by.key] : ['session', by.session],
    h: [...closed],
    n: closings,
  }
}

export function rightsIn(field: RightsField): NonNullable<Requester['signed']> | null {
  if (field === null) return null
  const { a, w, b, h, n } = field
  const [kind, id] = b
  return {
    account: a as AccountId,
    within: w as FolderIdentifier | null,
    by: kind === 'key' ? { kind, key: id as KeyId } : { kind, session: id as SessionId },
    closed: new Map(h.map(([folder, closing]) => [folder as FolderId, closing])),
    closings: n,
  }
}
