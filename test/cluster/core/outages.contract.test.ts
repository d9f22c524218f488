import { describe, expect, test } from 'bun:test'
import { sql } from 'kysely'
import { createOutages, listOutages } from '../../../src/core/outages.ts'
import { DAY, HOUR, MINUTE } from '../../../src/domain/clock.ts'
import { type ContractDatabase, databases } from '../../support/databases/databases.ts'
import { handClock } from '../../support/hand-clock.ts'
import { keptLog } from '../../support/kept-log.ts'

describe.each(databases('outages'))('%s', (_name, open) => {
  /** A node, and what starts more of them. */
  async function service({ db, another }: ContractDatabase) {
    const clock = handClock()
    const began = clock.now()
    const log = keptLog()
    const node = (on = db) => createOutages({ db: on, clock, timers: clock, log })
    const found = async () =>
      (await listOutages(db)).map(({ began_at, ended_at, cause }) => [
        began_at - began,
        ended_at - began,
        cause,
      ])
    const first = await node()
    return { db, clock, began, log, node, second: () => node(another()), found, first }
  }

  test('an hour without the service is none, a millisecond more is', async () => {
    await using contract = await open()
    const { clock, began, node, found } = await service(contract)
    clock.advance(HOUR)
    const { endOf } = (await node()).lifetime(45)
    expect(await found()).toEqual([])
    expect(endOf(began)).toBe(began + 45 * DAY)
    clock.advance(HOUR + 1)
    const { endOf: later, cutoff } = (await node()).lifetime(45)
    expect(await found()).toEqual([[HOUR, 2 * HOUR + 1, 'stopped']])
    const end = later(began)
    expect(end).toBe(began + 45 * DAY + HOUR + 1)
    expect(cutoff(end)).toBe(began)
    expect(cutoff(end + 1)).toBe(began + 1)
    // What is used after it has only its own days.
    expect(later(clock.now())).toBe(clock.now() + 45 * DAY)
  })

  test('of nodes that start together after one, one notes it; while one ran there was none', async () => {
    await using contract = await open()
    const { clock, began, second, found, first, log } = await service(contract)
    clock.advance(50 * MINUTE)
    await first.note()
    clock.advance(50 * MINUTE)
    await second()
    expect(await found()).toEqual([])
    clock.advance(3 * DAY)
    const nodes = await Promise.all([second(), second(), second()])
    expect(await found()).toEqual([[100 * MINUTE, 100 * MINUTE + 3 * DAY, 'stopped']])
    for (const node of nodes) expect(node.lifetime(1).endOf(began)).toBe(began + 4 * DAY)
    expect(log.lines.filter(({ level }) => level === 'warn')).toHaveLength(1)
  })

  test('time in which the database was away from every node is one, and so is a standstill of the process', async () => {
    await using contract = await open()
    const { clock, db, found, first } = await service(contract)
    await sql`alter table meta rename to away`.execute(db)
    clock.advance(MINUTE)
    await expect(first.note()).rejects.toThrow()
    await sql`alter table away rename to meta`.execute(db)
    clock.advance(HOUR)
    await first.settle()
    expect(await found()).toEqual([[0, HOUR + MINUTE, 'stopped']])
    clock.advance(DAY)
    await first.settle()
    expect((await found())[1]).toEqual([HOUR + MINUTE, HOUR + MINUTE + DAY, 'stopped'])
  })

  test('a clock that is put right by less than an hour adds none to the time since it was looked at', async () => {
    await using contract = await open()
    const { clock, found, first, log } = await service(contract)
    clock.advance(15 * MINUTE)
    clock.leap(50 * MINUTE)
    await first.note()
    expect(await found()).toEqual([])
    expect(log.lines).toEqual([])
  })

  test('a leap in the middle of a note that others join is noted before they go on', async () => {
    await using contract = await open()
    const { clock, began, first } = await service(contract)
    const noting = first.note()
    clock.leap(100 * DAY)
    const now = await first.settle()
    await noting
    // A second leap, before what has settled ends anything, counts for nothing.
    clock.leap(100 * DAY)
    expect(first.lifetime(45).cutoff(now)).toBeLessThanOrEqual(began)
  })

  test('a leap of the clock ahead is noted and told before anything can be hidden, and one back ends it', async () => {
    await using contract = await open()
    const { clock, began, found, first, log } = await service(contract)
    const lifetime = first.lifetime(45)
    clock.leap(100 * DAY)
    await first.settle()
    expect(lifetime.cutoff()).toBeLessThanOrEqual(began)
    expect(lifetime.endOf(began)).toBe(began + 145 * DAY)
    clock.leap(-100 * DAY + MINUTE)
    await first.settle()
    expect(await found()).toEqual([
      [0, MINUTE, 'clock set ahead'],
      [MINUTE, MINUTE, 'clock set back'],
    ])
    expect(lifetime.endOf(began)).toBe(began + 45 * DAY + MINUTE)
    expect(log.lines.map(({ level, message }) => [level, message.slice(0, 24)])).toEqual([
      ['warn', 'the clock was set ahead,'],
      ['warn', 'the clock was set back. '],
    ])
  })
})
