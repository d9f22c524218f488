import type { Diagnosis, Finding } from '../../src/contract/operations.ts'
import type { Plural } from '../shared/words.ts'
import type { Translations } from './translated.tsx'

/** What the checks are about, by their names. */
export type DoctorTitles = Readonly<Record<string, string>>

export interface DoctorTexts {
  readonly title: string
  readonly why: string
  readonly waiting: string
  readonly again: string
  readonly sound: string
  readonly problems: Plural
  readonly titles: DoctorTitles
  /** What findings say, by their templates. */
  readonly sentences: Translations
  readonly levels: Readonly<Record<Finding['level'], string>>
  readonly parts: Readonly<Record<keyof Omit<Diagnosis, 'sound'>, string>>
}
