import type { PageContext } from './context.ts'

interface TimeProps {
  readonly iso: string
  readonly context: PageContext
  readonly className?: string
}

/** In UTC; the page's script rewrites it in the reader's time zone. */
export function Day({ iso, context: { locale, words }, className }: TimeProps) {
  return (
    <time className={className} data-day={locale} dateTime={iso}>
      {words.day(iso)}
    </time>
  )
}

export function Moment({ iso, context: { locale, words }, className }: TimeProps) {
  return (
    <time className={className} data-moment={locale} dateTime={iso}>
      {words.moment(iso)}
    </time>
  )
}

/** Without year and zone. */
export function WeekdayMoment({ iso, context: { locale, words }, className }: TimeProps) {
  return (
    <time className={className} data-weekday-moment={locale} dateTime={iso}>
      {words.weekdayMoment(iso)}
    </time>
  )
}
