import { HOUR, MINUTE, SECOND } from '../domain/clock.ts'
import { isoMoment, zoneHere } from '../domain/days.ts'

/** `45 s`, `12 min`, `3 h 5 min`. */
export function formatTime(milliseconds: number): string {
  if (milliseconds < MINUTE) return `${Math.ceil(milliseconds / SECOND)} s`
  if (milliseconds < HOUR) return `${Math.round(milliseconds / MINUTE)} min`
  const minutes = Math.round(milliseconds / MINUTE)
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`
}

export function count(number: number, thing: string): string {
  return `${number} ${thing}${number === 1 ? '' : 's'}`
}

/** In the local time zone, to the minute. */
export function shortTime(iso: string): string {
  return isoMoment(Date.parse(iso), zoneHere()).slice(0, 16)
}
