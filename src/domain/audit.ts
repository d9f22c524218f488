import type { AccountId } from './ids.ts'

/** The closed list of what administrators do that is kept. */
export const ACTS = [
  'account.added',
  'account.linked',
  'account.quota',
  'account.disabled',
  'account.enabled',
  'account.reset',
  'account.removed',
  'admin.made',
  'admin.unmade',
  'invitation.made',
  'key.made',
  'key.revoked',
  'report.dismissed',
  'content.taken_down',
  'content.allowed',
  'notice.set',
  'notice.cleared',
  'job.retried',
] as const

export type Act = (typeof ACTS)[number]

/** Somebody who administers on the site. */
export interface Administrator {
  readonly kind: 'administrator'
  readonly account: AccountId
  readonly username: string
  /** Where the request came from; empty when nobody knows. */
  readonly address: string
}

/** Whoever has the command line has the data, and needs no name. */
export type Actor = Administrator | { readonly kind: 'command line' }

export const COMMAND_LINE: Actor = { kind: 'command line' }

/** What was done to what. `details` are told as they were at that time. */
export interface Deed {
  readonly act: Act
  /** What people call it: a user name, the number of a report, a hash, the name of a job. */
  readonly object: string | null
  readonly details?: Readonly<Record<string, string | number | boolean | null>>
}
