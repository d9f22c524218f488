import { dayFormat, zonedMomentFormat, zoneHere } from '../../src/domain/days.ts'

/** `<time>` elements whose `data-day` or `data-moment` names the locale of their UTC time. */
export function showLocalDays(): void {
  const zone = zoneHere()
  for (const element of document.querySelectorAll<HTMLTimeElement>('time[data-day], time[data-moment]')) {
    const { day, moment } = element.dataset
    const format = moment === undefined ? dayFormat(day ?? '', zone) : zonedMomentFormat(moment, zone)
    element.textContent = format(Date.parse(element.dateTime))
  }
}
