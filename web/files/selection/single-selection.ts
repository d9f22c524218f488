import type { Entry } from '../entry.ts'
import type { Manager } from '../manager.ts'
import type { Selection } from './selection.ts'

export function singleSelection({ selected }: Selection, { listing }: Manager): Entry | null {
  if (selected.kind !== 'these' || selected.entries.size !== 1) return null
  const [entry] = selected.entries.values()
  if (entry === undefined) return null
  const row = listing.rowOf(entry.key)
  return row === null ? entry : listing.at(row)
}
