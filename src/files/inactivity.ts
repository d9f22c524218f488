import type { Lifetime, Outages } from '../core/outages.ts'
import { GUESTS } from '../domain/ids.ts'
import type { FileHolder } from './file-removal.rows.ts'

/** Decides when files end that nobody uses. Everything that says or acts on an end asks here. */
export interface Inactivity {
  /** Of guests' files; null: they stay for good. */
  readonly guests: Lifetime | null
  /** Of the files of accounts with these days of their own, or with none; null: they stay for good. */
  accounts(days: number | null): Lifetime | null
  of(holder: FileHolder): Lifetime | null
  /** When the file ends unless somebody uses it before, in milliseconds since the epoch; null: never. */
  endOf(file: FileHolder & { readonly last_used_at: number }): number | null
}

/** Of the settings, in days; 0: for good. */
export interface InactivityDays {
  readonly guests: number
  readonly accounts: number
}

export function createInactivity(outages: Pick<Outages, 'lifetime'>, days: InactivityDays): Inactivity {
  const lifetimeOf = (lasts: number) => (lasts === 0 ? null : outages.lifetime(lasts))
  const guests = lifetimeOf(days.guests)
  const accounts = (own: number | null) => lifetimeOf(own ?? days.accounts)
  const of = (holder: FileHolder) => (holder.account_id === GUESTS ? guests : accounts(holder.inactive_days))
  return {
    guests,
    accounts,
    of,
    endOf: (file) => of(file)?.endOf(file.last_used_at) ?? null,
  }
}
