/** One upload by the command line over a bad line, through nginx that takes so much at a time. */
import { join } from 'node:path'
import { newClient } from '../support/cli/client.ts'
import { readBack } from '../support/clients/caller.ts'
import { freePort } from '../support/processes/free-port.ts'
import { startBalancer } from '../support/servers/balancer.ts'
import type { KillableServers } from '../support/servers/killable-servers.ts'
import { type Course, overBadLine } from './bad-line-run.ts'

export interface CommandCourse extends Course {
  /** As nginx writes sizes. */
  readonly largestBody: string
  /** Writes a file of the size there, and tells the SHA-256 of it. */
  readonly write: (path: string) => Promise<string>
}

/**
 * Resolves with the seconds that the command took; throws unless the file then is on the server as it was. Where there are
 * several nodes, nginx asks one of them by chance, and it does not matter which one was last seen at work.
 */
export async function sendByCommandLine(servers: KillableServers, course: CommandCourse): Promise<number> {
  const { size, largestBody, write } = course
  await using stack = new AsyncDisposableStack()
  const port = await freePort()
  const nodes = servers.urls.map((url) => Number(new URL(url).port))
  stack.adopt(await startBalancer(port, nodes, { largestBody }), (nginx) => nginx.stop())
  const client = stack.use(newClient())
  const sha256 = await write(join(client.folder, 'far.bin'))
  const { apiKey } = await servers.addAccount('far')
  const begin = performance.now()
  const behind = { ...servers, urls: [`http://127.0.0.1:${port}`] }
  const { code, output, errors } = await overBadLine(behind, course, (line) =>
    client.runWith({ env: { HOLDFAST_SERVER: line, HOLDFAST_API_KEY: apiKey } }, 'upload', 'far.bin'),
  )
  const seconds = (performance.now() - begin) / 1000
  if (code !== 0) throw new Error(`the command ended with ${code}: ${errors}`)
  const read = await readBack(servers.urls[0] ?? '', output.trim().split('/').at(-1) ?? '')
  if (!Bun.deepEquals(read, { size, sha256 })) throw new Error(`it reads back as ${Bun.inspect(read)}`)
  const wrong = await servers.end()
  if (wrong.length > 0) throw new Error(wrong.join('\n'))
  return seconds
}
