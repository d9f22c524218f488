/**
 * What lets more people see something. Such a change needs the scope `read` besides `manage`: a key that may only
 * arrange files could otherwise publish them and read them as a stranger.
 */
import { Refusal } from './errors.ts'
import type { FolderId, LinkId } from './ids.ts'
import type { Actor } from './reach.ts'

/** What keeps visitors out of a place, and what leads them in. */
export interface Exposure {
  /** Whether no folder on the way is private. */
  readonly isPublic: boolean
  /** Folders on the way that have a password. */
  readonly locked: ReadonlySet<FolderId>
  /** Living links that open a folder on the way. */
  readonly links: ReadonlySet<LinkId>
}

/** Terms of a made link. `endsAt`: milliseconds since the epoch; null: no end. `maxDownloads`: null for any number. */
export interface LinkLimits {
  readonly endsAt: number | null
  readonly maxDownloads: number | null
  readonly hasPassword: boolean
}

/** A password as a change names it: undefined keeps the present one, null takes it off. */
type NewPassword = string | null | undefined

/** Whether what moves from one place to the other may be seen by more people there. */
export function exposesMore(from: Exposure, to: Exposure): boolean {
  return (
    (to.isPublic && !from.isPublic) ||
    [...from.locked].some((folder) => !to.locked.has(folder)) ||
    [...to.links].some((link) => !from.links.has(link))
  )
}

/** Whether the change of its access opens a folder to more people. */
export function opensFolder(
  before: { readonly isPublic: boolean; readonly hasPassword: boolean },
  change: { readonly isPublic?: boolean | undefined; readonly password?: NewPassword },
): boolean {
  return (change.isPublic === true && !before.isPublic) || replacesPassword(before, change.password)
}

/** Whether the change of its terms opens a link to more people, for longer or more often. */
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

/** Another password lets in those who know that one: who replaces it may be the first of them. */
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
