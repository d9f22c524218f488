import { useMemo } from 'react'
import { dayFormat } from '../../../src/domain/days.ts'
import { useApp } from '../app/app-context.ts'

/** `2026-01-31`, a UTC day, becomes `31 Jan`. */
export function useShortDays(): (day: string) => string {
  const { locale } = useApp()
  return useMemo(() => {
    const format = dayFormat(locale, 'UTC', 'short')
    return (day) => format(Date.parse(day))
  }, [locale])
}
