/** The only conversions from times to days, for people and programs. */
import { timestamp } from './clock.ts'

export function zoneHere(): string {
  return new Intl.DateTimeFormat().resolvedOptions().timeZone
}

export type DayStyle = 'long' | 'medium' | 'short'

export function dayFormat(locale: string, zone: string, style: DayStyle = 'long'): (time: number) => string {
  const options = style === 'short' ? ({ day: 'numeric', month: 'short' } as const) : { dateStyle: style }
  const format = new Intl.DateTimeFormat(locale, { ...options, timeZone: zone })
  return (time) => format.format(time)
}

/** `12 March 2026 at 09:15`. */
export function momentFormat(
  locale: string,
  zone: string,
  style: 'long' | 'medium' = 'long',
): (time: number) => string {
  const format = new Intl.DateTimeFormat(locale, { dateStyle: style, timeStyle: 'short', timeZone: zone })
  return (time) => format.format(time)
}

/** With the zone, for readers elsewhere: `12 March 2026 at 09:15 UTC`. */
export function zonedMomentFormat(locale: string, zone: string): (time: number) => string {
  const format = new Intl.DateTimeFormat(locale, {
    day: 'numeric',
    month: 'long',
    year: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    timeZoneName: 'short',
    timeZone: zone,
  })
  return (time) => format.format(time)
}

/** `Saturday 28 November at 13:00`; in UTC, which a reader would not assume, with the zone. */
export function weekdayMomentFormat(locale: string, zone: string): (time: number) => string {
  const format = new Intl.DateTimeFormat(locale, {
    weekday: 'long',
    day: 'numeric',
    month: 'long',
    hour: '2-digit',
    minute: '2-digit',
    timeZone: zone,
    ...(zone === 'UTC' ? { timeZoneName: 'short' } : {}),
  })
  return (time) => format.format(time)
}

/** `2026-01-31`. */
export function isoDay(time: number, zone: string): string {
  return isoMoment(time, zone).slice(0, 10)
}

/** `2026-01-31 18:30:05`. */
export function isoMoment(time: number, zone: string): string {
  if (zone === 'UTC') return timestamp(time).slice(0, 19).replace('T', ' ')
  // Swedish uses this format.
  const format = new Intl.DateTimeFormat('sv-SE', {
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
    timeZone: zone,
  })
  return format.format(time)
}
