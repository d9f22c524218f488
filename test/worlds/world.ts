/** One world: callers, services and faults that all follow from a number. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DAY, HOUR, SECOND } from '../../src/domain/clock.ts'
import { type Chance, chance } from '../support/chance.ts'
import type { Action } from './actions.ts'
import { calm } from './calm.ts'
import { History } from './history.ts'
import { KINDS } from './kinds.ts'
import { Life, type Surroundings } from './life.ts'
import { MemoryStore } from './memory-store.ts'
import { Model } from './model.ts'
import { type Template, template } from './template.ts'
import { drained, WorldTime } from './turns.ts'
import { Weather } from './weather.ts'
import { layDatabase, survivingDatabase } from './world-database.ts'

export interface WorldReport {
  /** All that happened, a line each: the same for the same number. */
  readonly trace: readonly string[]
  /** What was wrong; empty when all was well. */
  readonly problems: readonly string[]
  readonly kills: number
  readonly faults: number
  readonly begun: number
  readonly acknowledged: number
}

const STEPS = 300
/** The share of steps before which the clock jumps. */
const JUMP = 0.002
/** The share of steps in which a caller begins something. */
const BEGIN = 0.3
/** Steps in which all that is under way has to end. */
const PATIENCE = 4000
const NOTING = 'note that the service runs'

export async function runWorld(seed: number): Promise<WorldReport> {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-test-'))
  const world = new World(seed, folder, await template())
  try {
    await world.run()
    return world.report()
  } finally {
    await world.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

/** How bad a world is, and how busy. */
interface Temper {
  /** The share of steps before which all is killed. */
  readonly kills: number
  /** Compared with the usual. */
  readonly faults: number
  readonly atOnce: number
}

export class World implements Omit<Surroundings, 'random'> {
  readonly chance: Chance
  readonly time = new WorldTime()
  readonly store = new MemoryStore()
  readonly model = new Model()
  readonly history: History
  readonly #surroundings: Surroundings
  readonly #temper: Temper
  readonly #folder: string
  readonly #template: Template
  readonly #weather: Weather
  #life: Life
  #lives = 0
  #names = 0
  /** Whether the clock has jumped and the service has not noted it yet. */
  #isUnnoted = false
  #isCalm = false

  constructor(seed: number, folder: string, made: Template) {
    const { time, store, model } = this
    this.chance = chance(seed)
    this.#temper = {
      kills: this.chance.pick([0, 0.004, 0.004, 0.012]),
      faults: this.chance.pick([0, 1, 1, 3]),
      atOnce: this.chance.pick([2, 4, 4, 8]),
    }
    this.#weather = new Weather(this.chance, this.#temper.faults)
    this.history = new History(() => this.#weather.faults > 0)
    const bytes = chance(seed + 1_000_003)
    this.#surroundings = {
      time,
      store,
      model,
      history: this.history,
      random: (length) => bytes.bytes(length),
    }
    this.#folder = folder
    this.#template = made
    this.#life = this.#begin(layDatabase(join(folder, '0'), made.bytes))
  }

  get life(): Life {
    return this.#life
  }

  report(): WorldReport {
    const { trace, problems, begun, acknowledged } = this.history
    return { trace, problems, begun, acknowledged, kills: this.#lives - 1, faults: this.#weather.faults }
  }

  async run(): Promise<void> {
    for (let step = 0; step < STEPS && this.history.isSound; step++) await this.#step()
    this.#isCalm = true
    this.#weather.clear()
    await calm(this)
  }

  /** Runs the jobs of these names, or all, one after another, and waits for each. */
  async runJobs(after: number, names?: readonly string[]): Promise<void> {
    this.time.advance(after)
    for (const { name } of this.#life.services?.jobs ?? []) {
      if (names?.includes(name) === false || !this.history.isSound) continue
      this.#life.startJob(name)
      await this.untilIdle()
    }
  }

  /** Lets so many operations go on. */
  async goOn(steps: number): Promise<void> {
    for (let step = 0; step < steps && !this.#life.isIdle; step++) {
      this.#release()
      await this.#settled()
    }
  }

  /** Lets all that is under way end. */
  async untilIdle(): Promise<void> {
    // A start that has met its fault before the calm may still fail; the next one must not.
    let failures = 0
    for (let step = 0; step < PATIENCE && this.history.isSound; step++) {
      if (this.#life.isIdle) return
      if (!this.#life.hasFailed) this.#release()
      else if (failures++ === 0) await this.#kill()
      else this.history.note(['a start without faults has failed'])
      await this.#settled()
    }
    if (this.history.isSound) this.history.note([`${this.#life.underWay} actions do not end`])
  }

  async close(): Promise<void> {
    await this.#end()
  }

  #begin(file: string): Life {
    this.#lives++
    return new Life(file, this.#surroundings)
  }

  async #step(): Promise<void> {
    const { chance, time } = this
    const life = this.#life
    const roll = chance.fraction()
    const { kills, atOnce } = this.#temper
    if (life.hasFailed || roll < kills) return this.#kill()
    if (roll < kills + JUMP) this.#jump()
    else time.advance(roll < 0.03 ? chance.whole(1, 90) * SECOND : chance.whole(0, 300))
    life.turns.callDue()
    const mayBegin = life.services !== null && life.underWay < atOnce
    if (mayBegin && this.#isUnnoted && !life.running.has(NOTING)) this.#noteTime()
    else if (mayBegin && chance.fraction() < BEGIN) this.act(...chance.pick(KINDS))
    else this.#release()
    await this.#settled()
  }

  /** Lets one operation go on; without any, time passes until the next timer. */
  #release(): void {
    const { turns } = this.#life
    const { waiting } = turns
    if (waiting.length === 0) {
      const due = turns.nextTimer()
      if (due === null) return
      this.time.advance(Math.max(0, due - this.time.monotonic))
      turns.callDue()
      return
    }
    const at = this.chance.whole(0, waiting.length - 1)
    const next = waiting[at]
    if (next === undefined) return
    const fault = this.#isCalm ? null : this.#weather.over(next)
    this.history.say(`${next.kind} ${next.what}${fault === null ? '' : `: ${fault.reason} ${fault.when}`}`)
    turns.release(at, fault)
  }

  async #settled(): Promise<void> {
    await drained()
    this.#life.look()
  }

  act(name: string, action: Action): void {
    const life = this.#life
    const { services, turns, running } = life
    if (services === null) return
    const { chance, model } = this
    const accounts = this.#template.accounts.filter((each) => !model.silent.has(each))
    const newName = (kind: string) => `${kind}-${++this.#names}.bin`
    life.start(name, () => action({ services, model, chance, turns, running, accounts, newName }))
  }

  /** The process ends, or the whole machine; what is left of it starts again. */
  async #kill(): Promise<void> {
    const life = this.#life
    const cut = this.chance.fraction() < 0.5 ? this.chance : null
    life.turns.end()
    const { file, lost } = survivingDatabase(life.database, join(this.#folder, String(this.#lives)), cut)
    if (cut === null) this.store.kill()
    else this.store.powerCut(cut)
    this.history.say(cut === null ? 'kill' : `power cut: ${lost} bytes of the log are lost`)
    await this.#end()
    // Who starts it again tries until it starts.
    if (life.hasFailed) this.#weather.clear()
    this.model.killed()
    this.#life = this.#begin(file)
    await this.#settled()
    this.#life.checks.settle()
  }

  async #end(): Promise<void> {
    const { turns, checks, database } = this.#life
    turns.end()
    checks.close()
    await database.close()
    await drained()
  }

  /**
   * The service notes every minute where the clock is. The next jump comes after that: what was made by a clock that was
   * wrong for less, and that nobody has seen, is as old as it says.
   */
  #jump(): void {
    if (this.#isUnnoted) return
    this.#isUnnoted = true
    const far = this.chance.pick([3 * HOUR, -3 * HOUR, 46 * DAY, -46 * DAY])
    this.history.say(`the clock leaps by ${far / HOUR} h`)
    this.time.wall += far
    this.model.leapt()
  }

  /** Twice, since the first time may join a run that has read the clock before. */
  #noteTime(): void {
    const { running, services } = this.#life
    const job = services?.jobs.find(({ name }) => name === NOTING)
    if (job === undefined) return
    running.add(NOTING)
    this.#life.start(NOTING, async () => {
      try {
        for (let times = 0; times < 2; times++) await job.run(() => true)
        this.#isUnnoted = false
      } finally {
        running.delete(NOTING)
      }
    })
  }
}
