import type { Lifetime, Outages } from '../core/outages.ts'
import { GUESTS } from '../domain/ids.ts'
import type { FileHolder } from './file-removal.rows.ts'

/** Decides on expiry for the whole program. */
export interface Inactivity {
  /** Null means never. */
  readonly guests: Lifetime | null
  /** Null means never. */
  accounts(days: number | null): Lifetime | null
  of(holder: FileHolder): Lifetime | null
  /** Milliseconds since the epoch; null: never. */
  endOf(file: FileHolder & { readonly last_used_at: number }): number | null
}

/** Days; 0: never. */
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
