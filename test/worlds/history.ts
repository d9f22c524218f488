/** What happened in a world, and what was wrong with it. */
import { StoreFailure } from '../../src/blobs/blob-store.ts'
import { isDatabaseFailure } from '../../src/database/differences.ts'
import { Refusal } from '../../src/domain/errors.ts'
import { BrokenOff } from './actions.ts'

export class History {
  readonly trace: string[] = []
  readonly problems: string[] = []
  /** Actions that were begun, and how many of them were acknowledged. */
  begun = 0
  acknowledged = 0
  readonly #hasFaults: () => boolean

  constructor(hasFaults: () => boolean) {
    this.#hasFaults = hasFaults
  }

  get isSound(): boolean {
    return this.problems.length === 0
  }

  say(line: string): void {
    this.trace.push(line)
  }

  note(problems: Iterable<string>): void {
    for (const problem of problems) {
      this.problems.push(problem)
      this.say(`WRONG: ${problem}`)
    }
  }

  /** Of errors, those that follow from a fault are no surprise, and neither is a refusal. */
  judge(what: string, error: unknown): void {
    this.say(`${what}: ${error instanceof Refusal ? error.code : error}`)
    if (!this.#isExpected(error)) this.note([`${what}: ${Bun.inspect(error)}`])
  }

  #isExpected(error: unknown): boolean {
    if (error instanceof BrokenOff) return true
    if (!(error instanceof Refusal)) {
      return (isDatabaseFailure(error) || error instanceof StoreFailure) && this.#hasFaults()
    }
    // The limit of all guests together needs no fault.
    const isOutage = ['STORAGE_UNAVAILABLE', 'DATABASE_UNAVAILABLE'].includes(error.code)
    if (isOutage && error.reason !== 'guests') return this.#hasFaults()
    return error.code !== 'INTERNAL_ERROR' && error.code !== 'FILE_DAMAGED'
  }
}
