import { useMemo } from 'react'
import { dayFormat, momentFormat, zoneHere } from '../../src/domain/days.ts'
import { useFiles } from './files-context.ts'

/** In the local time zone. */
export interface ShownTimes {
  /** `12 Mar 2026` */
  short(iso: string): string
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
