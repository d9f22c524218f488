import { useMemo } from 'react'
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
    const short = new Intl.DateTimeFormat(locale, { dateStyle: 'medium' })
    const long = new Intl.DateTimeFormat(locale, { dateStyle: 'long', timeStyle: 'short' })
    return { short: (iso) => short.format(new Date(iso)), long: (iso) => long.format(new Date(iso)) }
  }, [locale])
}
