/** The uploads over a bad line that the suite makes with a few cuts, and the long tier with many. */

import { chance } from '../support/chance.ts'
import { sha256 } from '../support/clients/caller.ts'
import { killableNodes, killableServer } from '../support/servers/killable-servers.ts'
import { sendByCommandLine } from './bad-line-command.ts'
import type { Course } from './bad-line-run.ts'
import { sendByTusJs } from './bad-line-tus-js.ts'

const MIB = 1024 ** 2

export interface Measure {
  readonly seed: number
  readonly cuts: number
  readonly kills: number
}

/** By tus-js-client to one server. */
export async function byTusJs(measure: Measure): Promise<void> {
  await using server = await killableServer()
  await sendByTusJs(server, course(measure, 0.4))
}

/** By tus-js-client to three nodes; the first kill hits the one that is at work. */
export async function byTusJsToNodes(measure: Measure): Promise<void> {
  await using nodes = await killableNodes(1)
  await sendByTusJs(nodes, course(measure, 0.6))
}

/** By the command line through a proxy that takes a mebibyte at a time. */
export async function byCommandLine(measure: Measure): Promise<void> {
  await using server = await killableServer()
  const chosen = course(measure, 2.7)
  const content = chance(measure.seed + 1).bytes(chosen.size)
  await sendByCommandLine(server, {
    ...chosen,
    largestBody: '1m',
    async write(path) {
      await Bun.write(path, content)
      return sha256(content)
    },
  })
}

/** However many cuts there are, so many mebibytes lie between two of them at most. */
function course(measure: Measure, mebibytesToCut: number): Course {
  return { ...measure, size: Math.ceil(measure.cuts * mebibytesToCut * MIB) }
}
