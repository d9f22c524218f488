/** Downloads, which take a while: their contents may be replaced and removed meanwhile. */
import type { Action } from './actions.ts'

const PIECE = 700

export const readFile: Action = async ({ chance, model, services, turns }) => {
  const files = [...model.files.values()].filter(({ uuid }) => uuid !== null)
  if (files.length === 0) return
  const file = chance.pick(files)
  const { uuid, name, content } = file
  if (uuid === null) return
  const row = await services.readable(uuid)
  if (row === undefined) {
    if (!file.mayBeGone) throw new Error(`${name} was acknowledged and is not found`)
    return
  }
  // Whoever has the page asks for the bytes a little later.
  await turns.turn('sender', 'reading')
  const body = await services.content.read(row, 0, row.size)
  if (!('readInto' in body)) throw new Error('the store in memory opens blobs')
  const read = new Uint8Array(row.size)
  try {
    for (let at = 0; at < row.size; at += PIECE) {
      await body.readInto(at, read.subarray(at, Math.min(row.size, at + PIECE)))
      await turns.turn('sender', 'reading')
    }
  } finally {
    await body.close()
  }
  if (!Buffer.from(read).equals(content)) throw new Error(`${name} was read as something else`)
}
