import { useMemo } from 'react'
import { useApp } from '../shared/app/app-context.ts'

/** Writes an ISO 8601 timestamp as people do where they are, with the time of the day. */
export function useMoments(): (iso: string) => string {
  const { locale } = useApp()
  return useMemo(() => {
    const moments = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'short' })
    return (iso) => moments.format(new Date(iso))
  }, [locale])
}
