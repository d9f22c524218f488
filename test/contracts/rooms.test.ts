import { expect, test } from 'bun:test'
import { systemClock } from '../../src/domain/clock.ts'
import { makeBlobKey, systemRandom } from '../../src/domain/random.ts'
import { createLog } from '../../src/log.ts'
import { joinNodes } from '../../src/services/nodes.ts'
import { createRooms } from '../../src/services/room.ts'
import { buildParts } from '../support/parts.ts'

const GIB = 1024 ** 3

test('what an upload was promised is nobody else’s until the disk itself tells of its bytes', async () => {
  await using parts = await buildParts()
  const { db, rates, caller } = parts
  let free = 10
  const rooms = createRooms({
    db,
    blobs: { ...parts.blobs, freeSpace: async () => free },
    databaseSpace: async () => null,
    rates,
    nodes: await joinNodes({
      db,
      clock: systemClock,
      random: systemRandom,
      log: createLog('silent', { terminal: false }),
      alone: true,
    }),
    clock: systemClock,
    limits: { storageLimit: GIB, guestStorage: GIB, guestHourlySize: GIB, minFreeSpace: 0 },
    report: (error) => parts.reported.push(error),
  })
  const setAside = (bytes: number) => rooms.setAside(caller, makeBlobKey(systemRandom), bytes, bytes)

  const room = await setAside(6)
  await room.cover(6)
  await expect(setAside(5)).rejects.toMatchObject({ code: 'STORAGE_UNAVAILABLE' })
  room.wrote(4)
  free -= 4
  await expect(setAside(5)).rejects.toMatchObject({ code: 'STORAGE_UNAVAILABLE' })
  const other = await setAside(4)
  await other.giveBack()
  room.wrote(2)
  free -= 2
  await room.giveBack()
  await setAside(4)
  await expect(setAside(1)).rejects.toMatchObject({ code: 'STORAGE_UNAVAILABLE' })
  expect(parts.reported).toEqual([])
})
