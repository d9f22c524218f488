import { dayFormat, zonedMomentFormat } from '../../src/domain/days.ts'
import { scaleSize } from '../../src/domain/sizes.ts'

/**
 * A text that depends on a number, by CLDR's plural categories of its language. `{count}` stands for the
 * number: `{ one: '{count} file', other: '{count} files' }`.
 */
export type Plural = { readonly other: string } & Partial<Readonly<Record<Intl.LDMLPluralRule, string>>>

/** Formatters for numbers, sizes and dates in one locale. */
export interface Words {
  /** `1,204 files`. */
  count(number: number, forms: Plural): string
  /** An integer with separated thousands. */
  number(number: number): string
  /** `1.5 GB`, in units of 1024. */
  size(bytes: number): string
  /** Date of an ISO 8601 timestamp: `12 March 2026`. */
  day(iso: string): string
  /** Date and time of an ISO 8601 timestamp, with its zone: `12 March 2026 at 09:15 UTC`. */
  moment(iso: string): string
}

/**
 * `zone`: that of days and times. Pages that the server renders say UTC; what a script shows is in the browser's zone, in
 * which its reader chooses days too.
 */
export function createWords(locale: string, zone: string): Words {
  const numbers = new Intl.NumberFormat(locale)
  const rules = new Intl.PluralRules(locale)
  const day = dayFormat(locale, zone)
  const moment = zonedMomentFormat(locale, zone)
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
  }
}

/** The text with every `{name}` replaced by the value of that name. */
export function fill(text: string, values: Readonly<Record<string, string>>): string {
  return text.replace(/\{(\w+)\}/g, (hole, name: string) => values[name] ?? hole)
}
