import { dayFormat, zonedMomentFormat, zoneHere } from '../../src/domain/days.ts'

/**
 * Rewrites days and moments that the server has written in UTC, as they are where the reader is. They are `<time>` elements
 * whose `data-day` or `data-moment` is the locale that they are written in.
 */
export function showLocalDays(): void {
  const zone = zoneHere()
  for (const element of document.querySelectorAll<HTMLTimeElement>('time[data-day], time[data-moment]')) {
    const { day, moment } = element.dataset
    const format = moment === undefined ? dayFormat(day ?? '', zone) : zonedMomentFormat(moment, zone)
    element.textContent = format(Date.parse(element.dateTime))
  }
}
