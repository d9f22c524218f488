import { isoMoment, zoneHere } from '../../../src/domain/days.ts'

/** What a field for a time holds, `2026-01-31T18:30`, of an ISO 8601 timestamp; where the person is. */
export function toLocalTime(iso: string | null): string {
  if (iso === null) return ''
  return isoMoment(Date.parse(iso), zoneHere()).slice(0, 16).replace(' ', 'T')
}

/** The other way round; null for an empty field. */
export function fromLocalTime(local: string): string | null {
  return local === '' ? null : new Date(local).toISOString()
}
