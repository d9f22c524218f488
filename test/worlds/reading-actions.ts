/** Downloads, which take a while: their contents may be replaced and removed meanwhile. */
import { eachChunk } from '../../src/blobs/blob-store.ts'
import type { Action } from './actions.ts'

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
  const read: Buffer[] = []
  for await (const chunk of eachChunk(body)) {
    read.push(Buffer.from(chunk))
    await turns.turn('sender', 'reading')
  }
  if (!Buffer.concat(read).equals(content)) throw new Error(`${name} was read as something else`)
}
