import { dayFormat, weekdayMomentFormat, zonedMomentFormat } from '../../src/domain/days.ts'
import { scaleSize } from '../../src/domain/sizes.ts'

/** By CLDR's plural categories of the language: `{ one: '{count} file', other: '{count} files' }`. */
export type Plural = { readonly other: string } & Partial<Readonly<Record<Intl.LDMLPluralRule, string>>>

export interface Words {
  /** `1,204 files` */
  count(number: number, forms: Plural): string
  number(number: number): string
  /** `1.5 GB`, in units of 1024. */
  size(bytes: number): string
  /** `12 March 2026`, of an ISO 8601 timestamp. */
  day(iso: string): string
  /** `12 March 2026 at 09:15 UTC`, of an ISO 8601 timestamp. */
  moment(iso: string): string
  /** `Saturday 28 November at 13:00`, of an ISO 8601 timestamp. */
  weekdayMoment(iso: string): string
}

/**
 * Pages that the server renders say UTC; scripts use the browser's zone, in which readers also choose days.
 */
export function createWords(locale: string, zone: string): Words {
  const numbers = new Intl.NumberFormat(locale)
  const rules = new Intl.PluralRules(locale)
  const day = dayFormat(locale, zone)
  const moment = zonedMomentFormat(locale, zone)
  const weekdayMoment = weekdayMomentFormat(locale, zone)
  return {
    count(number, forms) {
      return fill(forms[rules.select(number)] ?? forms.other, { count: numbers.format(number) })
    },
    number: (number) => numbers.format(number),
    size(bytes) {
      const { value, unit } = scaleSize(bytes)
      return `${numbers.format(value)} ${unit}`
    },
    day: (iso) => day(Date.parse(iso)),
    moment: (iso) => moment(Date.parse(iso)),
    weekdayMoment: (iso) => weekdayMoment(Date.parse(iso)),
  }
}

export function fill(text: string, values: Readonly<Record<string, string>>): string {
  return text.replace(/\{(\w+)\}/g, (hole, name: string) => values[name] ?? hole)
}
