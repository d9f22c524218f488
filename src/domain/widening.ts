/** Exposing needs the scope `read` besides `manage`: a key that arranges files could else publish and read them. */
import { Refusal } from './errors.ts'
import type { FolderId, LinkId } from './ids.ts'
import type { Actor } from './reach.ts'

export interface Exposure {
  readonly isPublic: boolean
  readonly locked: ReadonlySet<FolderId>
  readonly links: ReadonlySet<LinkId>
}

/** `endsAt`: milliseconds since the epoch. Null: unlimited. */
export interface LinkLimits {
  readonly endsAt: number | null
  readonly maxDownloads: number | null
  readonly hasPassword: boolean
}

/** Undefined keeps the password, null removes it. */
type NewPassword = string | null | undefined

export function exposesMore(from: Exposure, to: Exposure): boolean {
  return (
    (to.isPublic && !from.isPublic) ||
    [...from.locked].some((folder) => !to.locked.has(folder)) ||
    [...to.links].some((link) => !from.links.has(link))
  )
}

export function opensFolder(
  before: { readonly isPublic: boolean; readonly hasPassword: boolean },
  change: { readonly isPublic?: boolean | undefined; readonly password?: NewPassword },
): boolean {
  return (change.isPublic === true && !before.isPublic) || replacesPassword(before, change.password)
}

export function opensLink(
  before: LinkLimits,
  change: {
    readonly endsAt?: number | null | undefined
    readonly maxDownloads?: number | null | undefined
    readonly password?: NewPassword
  },
): boolean {
  return (
    isRaised(before.endsAt, change.endsAt) ||
    isRaised(before.maxDownloads, change.maxDownloads) ||
    replacesPassword(before, change.password)
  )
}

/** The one who replaces a password knows the new one. */
function replacesPassword(
  { hasPassword }: { readonly hasPassword: boolean },
  password: NewPassword,
): boolean {
  return hasPassword && password !== undefined
}

function isRaised(before: number | null, after: number | null | undefined): boolean {
  return before !== null && after !== undefined && (after === null || after > before)
}

export function mayWiden({ scopes }: Pick<Actor, 'scopes'>): boolean {
  return scopes.includes('read')
}

/** Throws Refusal SCOPE_MISSING. */
export function assertMayWiden(actor: Pick<Actor, 'scopes'>): void {
  if (mayWiden(actor)) return
  throw new Refusal(
    'SCOPE_MISSING',
    'This lets more people see it, for which this API key lacks the scope "read"; use a key that has "manage" and "read"',
  )
}
