import { expect, test } from 'bun:test'
import { SECOND } from '../../../src/domain/clock.ts'
import { createDiskWatch, warnOfFloor } from '../../../src/operations/disk-space.ts'
import { handClock } from '../../support/hand-clock.ts'
import { keptLog } from '../../support/kept-log.ts'

const GB = 1024 ** 3

test('a full disk is told once when it begins and once when it clearly ends, guests first', async () => {
  const clock = handClock()
  const log = keptLog()
  let free = 10 * GB
  const parts = { databaseSpace: async () => null, floor: 2 * GB, guests: true, reserve: null, clock, log }
  const watch = createDiskWatch({ ...parts, blobSpace: async () => free })
  const at = async (left: number) => {
    free = left
    clock.advance(SECOND)
    await watch.watch()
    const { takesUploads, takesGuests } = await watch.look()
    return [takesUploads, takesGuests]
  }
  const said = () => log.lines.map(({ level, message }) => `${level}: ${message.slice(0, 30)}`)
  expect(await at(10 * GB)).toEqual([true, true])
  expect(said()).toEqual([])
  expect(await at(4 * GB)).toEqual([true, false])
  expect(await at(2 * GB)).toEqual([false, false])
  expect(await at(GB)).toEqual([false, false])
  expect(said()).toEqual(['warn: the disk is getting full: gues', 'warn: the disk is full: uploads are '])
  // Not every byte that comes and goes is worth a line.
  await at(2.05 * GB)
  await at(2 * GB)
  expect(said()).toHaveLength(2)
  expect(await at(5 * GB)).toEqual([true, true])
  expect(said().slice(2)).toEqual([
    'info: the disk has room again: uploa',
    "info: the disk has room for guests' ",
  ])
})

test('where the bytes go to another machine, guests need no more of the database’s disk than accounts', async () => {
  const parts = { floor: 2 * GB, guests: true, reserve: null, clock: handClock(), log: keptLog() }
  const s3 = createDiskWatch({ ...parts, blobSpace: async () => null, databaseSpace: async () => 3 * GB })
  expect(await s3.look()).toMatchObject({ free: 3 * GB, takesUploads: true, takesGuests: true })
  const away = createDiskWatch({ ...parts, blobSpace: async () => null, databaseSpace: async () => null })
  expect(await away.look()).toMatchObject({ free: null, takesUploads: true, takesGuests: true })
})

test('a floor larger than the disk, or half of it, is warned of with the setting', () => {
  const warned = (floor: number) => {
    const log = keptLog()
    warnOfFloor(log, floor, 3 * GB)
    return log.lines.map(({ message }) => message)
  }
  expect(warned(GB)).toEqual([])
  expect(warned(2 * GB)).toEqual([
    expect.stringMatching(/^twice HOLDFAST_MIN_FREE_SPACE .* no guest's upload/),
  ])
  expect(warned(4 * GB)).toEqual([
    expect.stringMatching(/^HOLDFAST_MIN_FREE_SPACE .* no upload can be taken/),
  ])
})
