import type { DamagedFile } from '../../../src/contract/administration.ts'
import type { JobState } from '../../../src/contract/operations.ts'
import type { DamagedFileState } from '../../../src/domain/administration.ts'
import type { Plural } from '../../shared/words.ts'

/** What the page of stored bytes says. */
export interface IntegrityTexts {
  readonly title: string
  /** {count} days, {rate} */
  readonly why: Plural
  readonly off: string
  readonly damaged: string
  readonly repaired: string
  /** Contents that are due to be read. */
  readonly due: string
  readonly nothingDue: string
  /** {size}, where not all is counted. */
  readonly moreBytes: string
  /** {number}, where not all is counted. */
  readonly moreThan: string
  readonly oldest: string
  readonly oldestWhy: string
  readonly none: string
  readonly today: string
  readonly days: Plural
  readonly states: Readonly<Record<JobState, string>>
  /** Instead of the state, while what is due waits for that. */
  readonly busy: string
  /** Before the reason. */
  readonly failed: string
  readonly files: string
  readonly filesWhy: string
  readonly choose: string
  readonly which: Readonly<Record<DamagedFileState, string>>
  readonly empty: Readonly<Record<DamagedFileState, string>>
  readonly reasons: Readonly<Record<NonNullable<DamagedFile['reason']>, string>>
  /** {time} */
  readonly foundAt: string
  readonly repairedAt: string
  readonly backups: {
    readonly title: string
    /** {place} */
    readonly why: string
    readonly off: string
    readonly last: string
    readonly drill: string
    readonly drillOff: string
    readonly never: string
    readonly good: string
    readonly bad: string
    readonly unknown: string
    /** {time}, {size} and {count} files. */
    readonly made: Plural
    /** {time}, {size} and {count} files that were read back. */
    readonly read: Plural
    /** Instead, {count} that is missing or damaged. */
    readonly wrong: Plural
    readonly states: Readonly<Record<'backup' | 'drill', Readonly<Record<JobState, string>>>>
    /** {time}; before the reason. */
    readonly failed: Readonly<Record<'backup' | 'drill', string>>
  }
}
