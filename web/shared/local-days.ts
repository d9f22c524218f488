import { dayFormat, weekdayMomentFormat, zonedMomentFormat, zoneHere } from '../../src/domain/days.ts'

const formats = { day: dayFormat, moment: zonedMomentFormat, weekdayMoment: weekdayMomentFormat } as const

/** `<time>` elements whose data attribute names the format, and the locale of their UTC time. */
export function showLocalDays(): void {
  const zone = zoneHere()
  for (const name of ['day', 'moment', 'weekdayMoment'] as const) {
    const attribute = name.replace(/[A-Z]/, (letter) => `-${letter.toLowerCase()}`)
    for (const element of document.querySelectorAll<HTMLTimeElement>(`time[data-${attribute}]`)) {
      element.textContent = formats[name](element.dataset[name] ?? '', zone)(Date.parse(element.dateTime))
    }
  }
}
