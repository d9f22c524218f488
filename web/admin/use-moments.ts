import { useMemo } from 'react'
import { momentFormat, zoneHere } from '../../src/domain/days.ts'
import { useApp } from '../shared/app/app-context.ts'

/** Writes an ISO 8601 timestamp as people do where they are, with the time of the day. */
export function useMoments(): (iso: string) => string {
  const { locale } = useApp()
  return useMemo(() => {
    const format = momentFormat(locale, zoneHere(), 'medium')
    return (iso) => format(Date.parse(iso))
  }, [locale])
}
