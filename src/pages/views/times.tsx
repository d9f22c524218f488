import type { PageContext } from './context.ts'

interface TimeProps {
  readonly iso: string
  readonly context: PageContext
  readonly className?: string
}

/** A day in UTC, which the script of the page rewrites as it is where the reader is. */
export function Day({ iso, context: { locale, words }, className }: TimeProps) {
  return (
    <time className={className} data-day={locale} dateTime={iso}>
      {words.day(iso)}
    </time>
  )
}

/** The same with the time of the day. */
export function Moment({ iso, context: { locale, words }, className }: TimeProps) {
  return (
    <time className={className} data-moment={locale} dateTime={iso}>
      {words.moment(iso)}
    </time>
  )
}
