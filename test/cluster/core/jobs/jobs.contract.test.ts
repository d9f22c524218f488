/** Jobs that one node at a time runs for all: the claims, in memory and in both databases, and what runs by them. */
import { describe, expect, test } from 'bun:test'
import { StoreFailure } from '../../../../src/blobs/blob-store.ts'
import {
  createLocalClaims,
  createSharedClaims,
  findJob,
  type JobClaims,
  type JobOutcome,
  keptFailures,
  SET_ASIDE_AFTER,
  takeJob,
} from '../../../../src/core/jobs/job-leases.ts'
import { type Job, startJobs } from '../../../../src/core/jobs/jobs.ts'
import { DEAD_AFTER, HEARTBEAT_INTERVAL, joinNodes, type Nodes } from '../../../../src/core/nodes/nodes.ts'
import { COMMAND_LINE } from '../../../../src/domain/audit.ts'
import { DAY, HOUR, MINUTE, SECOND, systemTimers, type Timers } from '../../../../src/domain/clock.ts'
import { systemRandom } from '../../../../src/domain/random.ts'
import { createBackgroundJobs } from '../../../../src/operations/background-jobs.ts'
import { type ContractDatabase, databases } from '../../../support/databases/databases.ts'
import { lossyDatabase } from '../../../support/databases/lossy-database.ts'
import { eventually } from '../../../support/eventually.ts'
import { type HandClock, handClock } from '../../../support/hand-clock.ts'
import { keptLog } from '../../../support/kept-log.ts'
import { NOWHERE } from '../../../support/node-place.ts'

const EVERY = 20 * SECOND

interface Parts extends AsyncDisposable {
  readonly clock: HandClock
  readonly claims: JobClaims
  /** The same jobs as seen by another part of the house: another node, where there are several. */
  readonly others: JobClaims
  /** Lets time go by for nodes that live. */
  pass(milliseconds: number): Promise<void>
}

async function local(): Promise<Parts> {
  const clock = handClock()
  const claims = createLocalClaims(clock)
  return {
    clock,
    claims,
    others: claims,
    pass: async (milliseconds) => clock.advance(milliseconds),
    async [Symbol.asyncDispose]() {},
  }
}

const both = databases('jobs')

const adapters = [
  ['in memory', local],
  ...both.map(([name, open]) => [`shared on ${name}`, () => shared(open)] as const),
] as const

async function shared(open: () => Promise<ContractDatabase>): Promise<Parts> {
  const database = await open()
  const house = houseOf(database)
  const [one, other] = [await house.node(), await house.node()]
  return {
    clock: house.clock,
    claims: one.claims,
    others: other.claims,
    async pass(milliseconds) {
      house.clock.advance(milliseconds)
      for (const { nodes } of [one, other]) await nodes.beat()
    },
    [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
  }
}

interface Node {
  readonly nodes: Nodes
  readonly claims: JobClaims
}

function houseOf(database: ContractDatabase) {
  const clock = handClock()
  const log = keptLog()
  return {
    clock,
    async node(db = database.another()): Promise<Node> {
      const nodes = await joinNodes({ db, clock, random: systemRandom, log, alone: false, place: NOWHERE })
      return { nodes, claims: createSharedClaims(db, nodes, clock) }
    },
    /** The others beat and look until those that do not are taken for dead. */
    async bury(living: readonly Node[]): Promise<void> {
      for (let gone = 0; gone <= DEAD_AFTER; gone += HEARTBEAT_INTERVAL) {
        for (const { nodes } of living) await nodes.beat()
        for (const { nodes } of living) await nodes.removeDead()
        clock.advance(HEARTBEAT_INTERVAL)
      }
      for (const { nodes } of living) await nodes.beat()
      for (const { nodes } of living) await nodes.removeDead()
    },
  }
}

/** Claims the job, which must be possible, and ends it like that. Returns the failures before it. */
async function run(claims: JobClaims, outcome: JobOutcome, every: number | null = EVERY): Promise<number> {
  const claim = await claims.claim('sweep', every)
  if (claim === null) throw new Error('the job could not be claimed')
  await claim.end(outcome)
  return claim.failures
}

describe.each(adapters)('a job claimed %s', (_, build) => {
  test('is nobody else’s until it ends', async () => {
    await using parts = await build()
    const claim = await parts.claims.claim('sweep', EVERY)
    expect(claim?.isHeld()).toBe(true)
    for (const every of [EVERY, null]) {
      expect(await parts.others.claim('sweep', every)).toBeNull()
      expect(await parts.claims.claim('sweep', every)).toBeNull()
    }
    await claim?.end('done')
    expect(await parts.others.claim('sweep', null)).not.toBeNull()
  })

  test('keeps no other job waiting', async () => {
    await using parts = await build()
    await parts.claims.claim('sweep', EVERY)
    expect(await parts.others.claim('purge', EVERY)).not.toBeNull()
  })

  test('comes again after its time, for whoever asks first, and not before', async () => {
    await using parts = await build()
    await run(parts.claims, 'done')
    await parts.pass(EVERY / 2)
    expect(await parts.others.claim('sweep', EVERY)).toBeNull()
    expect(await parts.claims.claim('sweep', EVERY)).toBeNull()
    await parts.pass(EVERY / 2)
    await run(parts.others, 'done')
    expect(await parts.claims.claim('sweep', EVERY)).toBeNull()
  })

  test('comes at once when that is asked for', async () => {
    await using parts = await build()
    await run(parts.claims, 'done')
    await run(parts.others, 'done', null)
  })

  test('does not wait for a time that a wrong clock has noted', async () => {
    await using parts = await build()
    parts.clock.leap(DAY)
    await run(parts.claims, 'done')
    parts.clock.leap(-DAY)
    await run(parts.others, 'done')
  })

  test('comes again at once when it was left in the middle', async () => {
    await using parts = await build()
    await run(parts.claims, 'left')
    await run(parts.others, 'left')
    await run(parts.claims, 'done')
  })

  test('is set aside for a day when it fails five times in a row, and again when it fails then', async () => {
    await using parts = await build()
    for (let failures = 0; failures < SET_ASIDE_AFTER; failures++) {
      expect(await run(failures % 2 === 0 ? parts.claims : parts.others, 'failed')).toBe(failures)
      await parts.pass(EVERY)
    }
    for (let round = 0; round < 2; round++) {
      await parts.pass(23 * HOUR)
      expect(await parts.claims.claim('sweep', EVERY)).toBeNull()
      expect(await parts.others.claim('sweep', EVERY)).toBeNull()
      await parts.pass(HOUR)
      expect(await run(parts.others, 'failed')).toBe(SET_ASIDE_AFTER + round)
    }
  })

  test('begins to count failures anew after a success', async () => {
    await using parts = await build()
    for (let count = 0; count < 3 * SET_ASIDE_AFTER; count++) {
      await run(parts.claims, count % 3 === 2 ? 'done' : 'failed')
      await parts.pass(EVERY)
    }
    expect(await run(parts.claims, 'done')).toBe(0)
  })

  test('is not set aside for outages, nor for being left', async () => {
    await using parts = await build()
    for (let count = 0; count < SET_ASIDE_AFTER; count++) {
      expect(await run(parts.claims, 'postponed')).toBe(0)
      expect(await parts.others.claim('sweep', EVERY)).toBeNull()
      await parts.pass(EVERY)
      expect(await run(parts.others, 'left')).toBe(0)
    }
    await run(parts.claims, 'failed')
    await parts.pass(EVERY)
    await run(parts.claims, 'postponed')
    await parts.pass(EVERY)
    expect(await run(parts.claims, 'done')).toBe(1)
  })
})

describe.each(both)('jobs of several nodes on %s', (_, open) => {
  test('are claimed by one of many that ask at the same time', async () => {
    await using database = await open()
    const house = houseOf(database)
    for (let round = 0; round < 10; round++) {
      // Some join only now, so that a claim meets nodes that were not there a moment ago.
      const claims = await Promise.all(
        Array.from({ length: 5 }, async () => (await house.node(database.db)).claims.claim('sweep', EVERY)),
      )
      const won = claims.filter((claim) => claim !== null)
      expect(won).toHaveLength(1)
      await won[0]?.end('done')
      house.clock.advance(EVERY)
    }
  })

  test('that somebody ran and ended since they were looked at are not taken by what was seen then', async () => {
    await using database = await open()
    const house = houseOf(database)
    const [one, other] = [await house.node(), await house.node()]
    await (await one.claims.claim('sweep', EVERY))?.end('done')
    const seen = await findJob(database.db, 'sweep')
    house.clock.advance(SECOND)
    await (await one.claims.claim('sweep', null))?.end('done')
    expect(await takeJob(database.db, 'sweep', other.nodes.id(), seen)).toBe(false)
    const present = await findJob(database.db, 'sweep')
    expect(await takeJob(database.db, 'sweep', other.nodes.id(), present)).toBe(true)
  })

  test('of a dead node are taken over, and what it does when it wakes up changes nothing', async () => {
    await using database = await open()
    const house = houseOf(database)
    const [living, third, dead] = [await house.node(), await house.node(), await house.node()]
    const lost = await dead.claims.claim('sweep', EVERY)
    expect(lost?.isHeld()).toBe(true)
    expect(await living.claims.claim('sweep', EVERY)).toBeNull()
    await house.bury([living, third])

    expect(lost?.isHeld()).toBe(false)
    expect(await dead.claims.claim('purge', EVERY)).toBeNull()
    const taken = await living.claims.claim('sweep', EVERY)
    expect(taken?.isHeld()).toBe(true)
    await lost?.end('failed')
    await dead.nodes.beat()
    expect(lost?.isHeld()).toBe(false)
    expect(taken?.isHeld()).toBe(true)
    for (const { claims } of [dead, third]) expect(await claims.claim('sweep', null)).toBeNull()
    await taken?.end('done')
    house.clock.advance(EVERY)
    for (const { nodes } of [living, third, dead]) await nodes.beat()
    expect(await run(dead.claims, 'done')).toBe(0)
  })

  test('are let go of by a node that stands still before another can have them', async () => {
    await using database = await open()
    const house = houseOf(database)
    const [living, still] = [await house.node(), await house.node()]
    const held = await still.claims.claim('sweep', EVERY)
    let taken = null
    await living.nodes.removeDead()
    while (taken === null) {
      house.clock.advance(HEARTBEAT_INTERVAL)
      await living.nodes.beat()
      await living.nodes.removeDead()
      const isHeld = held?.isHeld()
      taken = await living.claims.claim('sweep', EVERY)
      expect({ isHeld, isTaken: taken !== null }).not.toEqual({ isHeld: true, isTaken: true })
    }
  })

  test('that a node could not give back, as the database was away, it runs again', async () => {
    await using database = await open()
    const house = houseOf(database)
    const lossy = lossyDatabase()
    const db = lossy.between(database.db)
    const [node, other] = [await house.node(db), await house.node()]
    const claim = await node.claims.claim('sweep', EVERY)
    lossy.loseNextAnswer('quiet')
    await expect(db.transaction().execute(async () => {})).rejects.toThrow()
    await expect(claim?.end('done')).rejects.toThrow()
    await expect(node.claims.claim('sweep', EVERY)).rejects.toThrow()
    lossy.recover()
    expect(await other.claims.claim('sweep', EVERY)).toBeNull()
    await run(node.claims, 'done')
  })
})

const OFTEN = 5

function job(name: string, work: Job['run'], more: Partial<Job> = {}): Job {
  return { name, on: 'one node', every: HOUR, run: work, ...more }
}

const failing = (error: Error) => async () => {
  throw error
}

describe('the jobs of a node', () => {
  test('all run now, in their order, whenever they ran last', async () => {
    const ran: string[] = []
    const jobs = ['first', 'second', 'third'].map((name, index) =>
      job(name, async () => void ran.push(name), { on: index === 1 ? 'every node' : 'one node' }),
    )
    const runner = startJobs(jobs, createLocalClaims(handClock()), { timers: systemTimers, log: keptLog() })
    await runner.runAll()
    await runner.runAll()
    await runner.stop()
    expect(ran).toEqual(['first', 'second', 'third', 'first', 'second', 'third'])
  })

  test('run in their rhythm, those for all nodes and those for this one', async () => {
    const ran = { all: 0, own: 0 }
    const jobs = [
      job('for all', async () => void ran.all++, { every: OFTEN }),
      job('own', async () => void ran.own++, { every: OFTEN, on: 'every node' }),
    ]
    const clock = handClock()
    const runner = startJobs(jobs, createLocalClaims(clock), { timers: systemTimers, log: keptLog() })
    await eventually('both have run several times', () => {
      clock.advance(OFTEN)
      return ran.all > 3 && ran.own > 3
    })
    await runner.stop()
  })

  test('wait for the run of another node when they are to run now', async () => {
    const claims = createLocalClaims(handClock())
    let runs = 0
    const runner = startJobs([job('sweep', async () => void runs++)], claims, {
      timers: systemTimers,
      log: keptLog(),
    })
    const others = await claims.claim('sweep', null)
    const all = runner.runAll()
    await Bun.sleep(50)
    expect(runs).toBe(0)
    await others?.end('done')
    await all
    expect(runs).toBe(1)
    await runner.stop()
  })

  test('leave a run of another node alone in their rhythm', async () => {
    const claims = createLocalClaims(handClock())
    await claims.claim('sweep', null)
    const ran: string[] = []
    const jobs = [
      job('sweep', async () => void ran.push('sweep'), { every: OFTEN }),
      job('purge', async () => void ran.push('purge'), { every: OFTEN }),
    ]
    const runner = startJobs(jobs, claims, { timers: systemTimers, log: keptLog() })
    await eventually('the other job has run', () => ran.length > 0)
    await Bun.sleep(10 * OFTEN)
    await runner.stop()
    expect(ran).not.toContain('sweep')
  })

  test('that keep failing are named in the log, set aside, and named again when they are tried again', async () => {
    const clock = handClock()
    const log = keptLog()
    const error = new Error('poisoned')
    let runs = 0
    const poisoned = job('sweep', () => Promise.reject(runs++ < 6 ? error : new Error('not again')), {
      every: OFTEN,
    })
    const runner = startJobs([poisoned], createLocalClaims(clock), { timers: systemTimers, log })
    await eventually('it is set aside', () => {
      clock.advance(OFTEN)
      return log.lines.some(({ message }) => message.includes('set aside'))
    })
    expect(runs).toBe(SET_ASIDE_AFTER)
    clock.advance(HOUR)
    await Bun.sleep(10 * OFTEN)
    expect(runs).toBe(SET_ASIDE_AFTER)
    clock.advance(DAY)
    await eventually('it is tried again', () => runs > SET_ASIDE_AFTER)
    await runner.stop()

    const fields = { job: 'sweep' }
    expect(log.lines).toMatchObject(
      [
        ...Array.from({ length: SET_ASIDE_AFTER - 1 }, () => ({
          level: 'error',
          fields,
          message: /failed$/,
        })),
        { level: 'error', fields: { ...fields, failures: 5, err: error }, message: /set aside for a day/ },
        { level: 'warn', fields: { ...fields, failures: 5 }, message: /tried again/ },
        { level: 'error', fields: { ...fields, failures: 6, err: error }, message: /set aside for a day/ },
      ].map((line) => ({ ...line, message: expect.stringMatching(line.message) })),
    )
  })

  test.each([
    ['the store', new StoreFailure('broken')],
    ['the database', Object.assign(new Error('away'), { code: 'ECONNREFUSED' })],
  ])('are not set aside while %s is away, and told of once a minute', async (_, outage) => {
    const log = keptLog()
    const clock = handClock()
    const timers: Timers = { monotonic: clock.monotonic, after: () => () => {} }
    const runner = startJobs([job('sweep', failing(outage))], createLocalClaims(clock), { timers, log })
    for (let count = 0; count <= SET_ASIDE_AFTER; count++) await runner.runAll()
    clock.advance(MINUTE)
    await runner.runAll()
    await runner.stop()
    const line = { level: 'error', message: expect.stringMatching(/does not answer/) }
    expect(log.lines).toMatchObject([line, line])
  })

  test('of its own are never set aside', async () => {
    const clock = handClock()
    let runs = 0
    const own = job('write counters', () => Promise.reject(new Error(`no ${runs++}`)), {
      on: 'every node',
      every: OFTEN,
    })
    const runner = startJobs([own], createLocalClaims(clock), { timers: systemTimers, log: keptLog() })
    await eventually('it has been tried very often', () => runs > 2 * SET_ASIDE_AFTER)
    await runner.stop()
  })

  test('are tried again after a time in which nothing could be claimed', async () => {
    const log = keptLog()
    const clock = handClock()
    const local = createLocalClaims(clock)
    let isAway = true
    const claims: JobClaims = {
      claim: (name, every) => (isAway ? Promise.reject(new Error('away')) : local.claim(name, every)),
      setAside: local.setAside,
    }
    let runs = 0
    const runner = startJobs([job('sweep', async () => void runs++, { every: OFTEN })], claims, {
      timers: systemTimers,
      log,
    })
    await eventually('that is logged', () => log.lines.length > 1)
    expect(runs).toBe(0)
    isAway = false
    await eventually('it runs', () => runs > 0)
    await runner.stop()
  })

  test('that can say whether they have work claim nothing without it', async () => {
    const clock = handClock()
    const local = createLocalClaims(clock)
    let [asked, claimed, runs, isWork] = [0, 0, 0, false]
    const claims: JobClaims = {
      claim(name, every) {
        claimed++
        return local.claim(name, every)
      },
      setAside: local.setAside,
    }
    const hasWork = async () => {
      asked++
      return isWork
    }
    const sweep = job('sweep', async () => void runs++, { every: OFTEN, hasWork })
    const runner = startJobs([sweep], claims, { timers: systemTimers, log: keptLog() })
    await eventually('it is asked', () => asked > 3)
    expect([claimed, runs]).toEqual([1, 1])
    isWork = true
    await eventually('it runs', () => {
      clock.advance(OFTEN)
      return runs > 1
    })
    isWork = false
    const before = runs
    await runner.runAll()
    expect(runs).toBeGreaterThan(before)
    await runner.stop()
  })

  test('stop between two steps when the node stops, and are left to the others', async () => {
    const claims = createLocalClaims(handClock())
    const begun = Promise.withResolvers<void>()
    let steps = 0
    const long = job('sweep', async (mayGoOn) => {
      while (mayGoOn()) {
        steps++
        begun.resolve()
        await Bun.sleep(1)
      }
    })
    const runner = startJobs([long], claims, { timers: systemTimers, log: keptLog() })
    const all = runner.runAll()
    await begun.promise
    await runner.stop()
    await all
    const stoppedAt = steps
    await Bun.sleep(20)
    expect(steps).toBe(stoppedAt)
    expect(await claims.claim('sweep', HOUR)).not.toBeNull()
  })

  test('stop between two steps when the claim is lost, and are not called done', async () => {
    const outcomes: JobOutcome[] = []
    let asked = 0
    const claims: JobClaims = {
      claim: async () => ({
        failures: 0,
        isHeld: () => ++asked < 3,
        end: async (outcome) => void outcomes.push(outcome),
      }),
      setAside: async () => [],
    }
    let steps = 0
    const long = job('sweep', async (mayGoOn) => {
      while (mayGoOn()) steps++
    })
    const runner = startJobs([long], claims, { timers: systemTimers, log: keptLog() })
    await runner.runAll()
    await runner.stop()
    expect({ steps, outcomes }).toEqual({ steps: 2, outcomes: ['left'] })
  })

  test(
    'run once at a time over nodes that share a database, and go on when one of them stops',
    async () => {
      for (const [, open] of both) {
        await using database = await open()
        const house = houseOf(database)
        const nodes = [await house.node(), await house.node(), await house.node()]
        let under = 0
        let most = 0
        let runs = 0
        const work = job(
          'sweep',
          async () => {
            most = Math.max(most, ++under)
            await Bun.sleep(2)
            under--
            runs++
          },
          { every: OFTEN },
        )
        const runners = nodes.map(({ claims }) =>
          startJobs([work], claims, { timers: systemTimers, log: keptLog() }),
        )
        await eventually('it has run often', () => {
          house.clock.advance(OFTEN)
          return runs > 20
        })
        await runners[0]?.stop()
        const before = runs
        await eventually('it goes on', () => {
          house.clock.advance(OFTEN)
          return runs > before + 5
        })
        for (const runner of runners) await runner.stop()
        expect(most).toBe(1)
      }
    },
    MINUTE,
  )
})

describe.each(both)('a node alone on %s', (_, open) => {
  test('tells others what fails, and tries what was set aside again when somebody wants it', async () => {
    await using database = await open()
    const { db } = database
    const clock = handClock()
    const claims = createLocalClaims(clock, keptFailures(db))
    const jobs = createBackgroundJobs(db, null, clock)
    for (let times = 0; times < SET_ASIDE_AFTER; times++) {
      await (await claims.claim('sweep', null))?.end('failed', `Error: ${times}`)
    }
    expect(await jobs.list()).toMatchObject([
      { name: 'sweep', state: 'set aside', failures: SET_ASIDE_AFTER, failure: 'Error: 4' },
    ])
    clock.advance(HOUR)
    expect(await claims.claim('sweep', EVERY)).toBeNull()
    await jobs.retry(COMMAND_LINE, 'sweep')
    const claim = await claims.claim('sweep', EVERY)
    expect(claim?.failures).toBe(0)
    await claim?.end('done')
    expect(await jobs.list()).toEqual([])
    await expect(jobs.retry(COMMAND_LINE, 'sweep')).rejects.toMatchObject({ code: 'NOT_FOUND' })
  })
})
