import * as z from 'zod'
import type { Evidence } from '../domain/access.ts'
import type { KeyId, SessionId } from '../domain/ids.ts'

/** What a signed address was asked for with, as its token names it: with the end of that it speaks for nobody. */
export const evidenceFields = {
  k: z.number().optional(),
  s: z.number().optional(),
}

interface Fields {
  readonly k?: number | undefined
  readonly s?: number | undefined
}

export function evidenceOf(by: Evidence | null): Fields {
  if (by === null) return {}
  return by.kind === 'key' ? { k: by.key } : { s: by.session }
}

export function evidenceIn({ k, s }: Fields): Evidence | null {
  if (k !== undefined) return { kind: 'key', key: k as KeyId }
  return s === undefined ? null : { kind: 'session', session: s as SessionId }
}
