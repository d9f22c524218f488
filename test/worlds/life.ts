/** From a start on what is there to a kill. */
import type { Clock } from '../../src/domain/clock.ts'
import type { Random } from '../../src/domain/random.ts'
import { keptLog } from '../support/kept-log.ts'
import { Checks } from './checks.ts'
import type { History } from './history.ts'
import { openMemoryBlobs } from './memory-blobs.ts'
import type { MemoryStore } from './memory-store.ts'
import type { Model } from './model.ts'
import { type Services, startServices } from './services.ts'
import { Turns, type WorldTime } from './turns.ts'
import { openWorldDatabase, type WorldDatabase } from './world-database.ts'

/** What outlives a kill. */
export interface Surroundings {
  readonly time: WorldTime
  readonly store: MemoryStore
  readonly model: Model
  readonly history: History
  readonly random: Random
}

const LOST_END = 'the end of a download by a link could not be counted'

export class Life {
  readonly turns: Turns
  readonly database: WorldDatabase
  readonly checks: Checks
  /** Jobs under way: no job runs twice at the same time. */
  readonly running = new Set<string>()
  readonly #surroundings: Surroundings
  readonly #log = keptLog()
  #looked = 0
  #services: Services | null = null
  #hasFailed = false
  #underWay = 0

  constructor(file: string, surroundings: Surroundings) {
    const { time, store, model } = surroundings
    this.#surroundings = surroundings
    this.turns = new Turns(() => time.monotonic)
    this.database = openWorldDatabase(file, this.turns)
    this.checks = new Checks(file, store, model)
    void this.#begin()
  }

  /** Null until they have started. */
  get services(): Services | null {
    return this.#services
  }

  /** Whether the start has failed, as a process ends that cannot start. */
  get hasFailed(): boolean {
    return this.#hasFailed
  }

  get underWay(): number {
    return this.#underWay
  }

  get isIdle(): boolean {
    return this.#services !== null && this.#underWay === 0 && this.turns.waiting.length === 0
  }

  start(name: string, work: () => Promise<void>): void {
    const { history } = this.#surroundings
    const number = ++history.begun
    history.say(`${number} begins: ${name}`)
    this.#underWay++
    work().then(
      () => {
        this.#underWay--
        history.acknowledged++
        history.say(`${number} is done`)
      },
      (error: unknown) => {
        this.#underWay--
        history.judge(`${number} ${name}`, error)
      },
    )
  }

  /** Runs the job unless it is running. */
  startJob(name: string): void {
    const job = this.#services?.jobs.find((each) => each.name === name)
    if (job === undefined || this.running.has(name)) return
    this.running.add(name)
    this.start(name, async () => {
      try {
        await job.run(() => true)
      } finally {
        this.running.delete(name)
      }
    })
  }

  /** Looks at all that has changed since the last look. */
  look(): void {
    const { history, model } = this.#surroundings
    if (this.checks.hasChanged()) history.note(this.checks.wrong())
    for (const line of this.#log.lines.slice(this.#looked)) {
      if (line.level !== 'error') continue
      history.judge(line.message, line.fields.err)
      // Its place stays taken.
      if (line.message === LOST_END) for (const link of model.links) link.doubted++
    }
    this.#looked = this.#log.lines.length
  }

  async #begin(): Promise<void> {
    const { time, store, random, history } = this.#surroundings
    const { turns, database } = this
    const clock: Clock = { now: () => time.wall, monotonic: () => time.monotonic, timers: turns.timers }
    try {
      const blobs = openMemoryBlobs(store, turns, clock.now)
      this.#services = await startServices({ db: database.db, store: blobs, clock, random, log: this.#log })
      history.say('started')
    } catch (error) {
      this.#hasFailed = true
      history.judge('the start', error)
    }
  }
}
