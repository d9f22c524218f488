import { useMemo } from 'react'
import { dayFormat, momentFormat, zoneHere } from '../../src/domain/days.ts'
import { useFiles } from './files-context.ts'

/** Moments as people write them where they are. */
export interface ShownTimes {
  /** `12 Mar 2026`. */
  short(iso: string): string
  /** With the time of the day. */
  long(iso: string): string
}

export function useTimes(): ShownTimes {
  const { locale } = useFiles().data
  return useMemo(() => {
    const short = dayFormat(locale, zoneHere(), 'medium')
    const long = momentFormat(locale, zoneHere())
    return { short: (iso) => short(Date.parse(iso)), long: (iso) => long(Date.parse(iso)) }
  }, [locale])
}
