import type { AccountId } from './ids.ts'

/** Closed list of audited actions: what administrators do, and what says or changes who may act for an account. */
export const ACTS = [
  'account.added',
  'account.linked',
  'account.quota',
  'account.inactive_days',
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
  'branding.set',
  'job.retried',
  'account.signed_in',
  'identity.proved',
  'tries.locked',
  'secret.rotated',
  'store.taken_over',
] as const

export type Act = (typeof ACTS)[number]

/** An administrator who acts on the site. */
export interface Administrator {
  readonly kind: 'administrator'
  readonly account: AccountId
  readonly username: string
  /** Client address of the request; empty when unknown. */
  readonly address: string
}

/** The owner of an account, who acts on that account. */
export interface AuditOwner {
  readonly kind: 'owner'
  readonly account: AccountId
  readonly username: string
  readonly address: string
}

/** Whoever sent a request without having signed in. */
export interface Stranger {
  readonly kind: 'stranger'
  readonly address: string
}

/** The command line needs no user name: who can run it has full access to the data anyway. */
export type Actor = Administrator | AuditOwner | Stranger | { readonly kind: 'command line' }

export const COMMAND_LINE: Actor = { kind: 'command line' }

/** An action and its object. `details` hold the values of that time. */
export interface AuditedAction {
  readonly act: Act
  /** Name as people know it: a user name, the number of a report, a hash, the name of a job, what was guessed. */
  readonly object: string | null
  readonly details?: Readonly<Record<string, string | number | boolean | null>>
}
