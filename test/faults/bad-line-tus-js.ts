/** One upload by tus-js-client over a bad line, as a browser sends it. */

import { chance } from '../support/chance.ts'
import { readBack, sha256 } from '../support/clients/caller.ts'
import { guestAt, tus } from '../support/clients/tus.ts'
import { sendByTusJs as send } from '../support/clients/tus-js.ts'
import type { KillableServers } from '../support/servers/killable-servers.ts'
import { type Course, overBadLine } from './bad-line-run.ts'

const CHUNK = 4 * 1024 ** 2

/** Throws unless the file then is on the server as it was. */
export async function sendByTusJs(servers: KillableServers, course: Course): Promise<void> {
  const content = chance(course.seed).bytes(course.size)
  const [url = ''] = servers.urls
  const { path, slug } = await tus(guestAt(url)).start(content.length, { filename: 'far.bin' })
  await overBadLine(servers, course, (line) => send(content, { uploadUrl: line + path, chunkSize: CHUNK }))
  const whole = { size: content.length, sha256: sha256(content) }
  const { body } = await tus(guestAt(url)).look(path)
  if (!Bun.deepMatch({ status: 'completed', ...whole }, body)) {
    throw new Error(`its status is ${Bun.inspect(body)}`)
  }
  const read = await readBack(url, slug)
  if (!Bun.deepEquals(read, whole)) throw new Error(`it reads back as ${Bun.inspect(read)}`)
  const wrong = await servers.end()
  if (wrong.length > 0) throw new Error(wrong.join('\n'))
}
