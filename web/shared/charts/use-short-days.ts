import { useMemo } from 'react'
import { useApp } from '../app/app-context.ts'

/** Formats a day such as `2026-01-31` briefly: `31 Jan`. */
export function useShortDays(): (day: string) => string {
  const { locale } = useApp()
  return useMemo(() => {
    const days = new Intl.DateTimeFormat(locale, { day: 'numeric', month: 'short', timeZone: 'UTC' })
    return (day) => days.format(new Date(day))
  }, [locale])
}
