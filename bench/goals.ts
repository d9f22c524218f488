/** Goals of the measured scenarios. */
import { ARCHIVE, ONE_BY_ONE, ONE_FILE } from './archives.ts'
import { CLIENT_BIG, CLIENT_SMALL, CURL } from './command-line.ts'
import { BIG_DOWNLOAD } from './downloads.ts'
import { type BenchFigures, GIB, type Measured, OURS } from './measure.ts'
import { FILE_DETAIL } from './requests.ts'
import { amount } from './result-table.ts'
import { MANY_PATCHES, MULTIPART, ONE_PATCH, TUS_ON_BUN, TUS_SERVER } from './resumable.ts'
import { BARE_BYTES, BIG_UPLOAD, SMALL_FILE } from './uploads.ts'

/** What a scenario should reach, and whether it did. */
export interface JudgedGoal {
  readonly what: string
  readonly wanted: string
  readonly got: string
  readonly verdict: 'reached' | '**missed**' | 'unknown'
}

interface Judgement {
  readonly got: string
  readonly reached: boolean
}

interface Goal {
  /** Matches the title of the scenario, which may begin with a number that depends on the options. */
  readonly scenario: string
  readonly wanted: string
  /** Throws `MissingPeer` through `peer` when a contender was not measured. */
  judge(ours: BenchFigures, peer: (name: string) => BenchFigures): Judgement
}

class MissingPeer extends Error {}

const NGINX_PUT = 'nginx PUT + sync'
const NGINX_GET = 'nginx GET'
const BARE = 'bare Bun server, constant answer'

/** Bytes in, bytes out, requests, and the command line. */
const GOALS: readonly Goal[] = [
  {
    scenario: BIG_UPLOAD,
    wanted: `1.30 × ${NGINX_PUT}, or 0.85 × dd, whichever is less`,
    judge(ours, peer) {
      const [nginx, dd] = [peer(NGINX_PUT), peer('dd conv=fsync')]
      return {
        got: `${times(ours, nginx)} × nginx, ${times(ours, dd)} × dd`,
        reached: ours.rate >= Math.min(1.3 * nginx.rate, 0.85 * dd.rate),
      }
    },
  },
  timesPeer(BIG_UPLOAD, { least: 0.9, peer: `${NGINX_PUT}, 1 MiB buffer` }),
  atMostCpu(BIG_UPLOAD, { most: 1.2, unit: 's per GiB', perUnit: 1, bare: BARE_BYTES }),
  timesPeer('100 KiB, one after another', { least: 0.5, peer: NGINX_PUT }),
  atMostCpu('100 KiB, one after another', {
    most: 0.9,
    unit: 'ms a file',
    perUnit: (1000 * SMALL_FILE) / GIB,
    bare: BARE_BYTES,
  }),
  timesPeer('100 KiB, 16 at once', { least: 0.8, peer: NGINX_PUT }),
  atMostCpu('100 KiB, 16 at once', {
    most: 0.7,
    unit: 'ms a file',
    perUnit: (1000 * SMALL_FILE) / GIB,
    bare: BARE_BYTES,
  }),
  resumable(ONE_PATCH, 0.8),
  resumable(MANY_PATCHES, 0.9),
  timesPeer(BIG_DOWNLOAD, { least: 0.9, peer: NGINX_GET }),
  timesPeer('random ranges of 1 MiB, one after another', { least: 1, peer: NGINX_GET }),
  {
    scenario: ARCHIVE,
    wanted: `0.70 × ${ONE_BY_ONE}`,
    judge(ours, peer) {
      const [each, one] = [peer(ONE_BY_ONE), peer(ONE_FILE)]
      const got = `${times(ours, each)} × ${ONE_BY_ONE}, ${times(ours, one)} × ${ONE_FILE}`
      return { got, reached: ours.rate >= 0.7 * each.rate }
    },
  },
  requestsASecond(FILE_DETAIL, 35_000),
  requestsASecond('First page', 6000),
  timesPeer(CLIENT_BIG, { least: 0.8, peer: CURL }),
  atMostCpu(CLIENT_BIG, { most: 1, unit: 's per GiB', perUnit: 1 }),
  timesPeer(CLIENT_SMALL, { least: 2, peer: CURL }),
]

/** Goals of the measured scenarios; one with a missing peer is reported as unknown instead of passing. */
export function judgedGoals(measured: readonly Measured[]): JudgedGoal[] {
  return GOALS.flatMap((goal): JudgedGoal[] => {
    const found = measured.find(({ scenario }) => scenario.title.includes(goal.scenario))
    const ours = found?.figures.find((row) => row.name === OURS)
    if (found === undefined || ours === undefined) return []
    const { title: what } = found.scenario
    try {
      const { got, reached } = goal.judge(ours, (name) => contender(found, name))
      return [{ what, wanted: goal.wanted, got, verdict: reached ? 'reached' : '**missed**' }]
    } catch (error) {
      if (!(error instanceof MissingPeer)) throw error
      return [{ what, wanted: goal.wanted, got: error.message, verdict: 'unknown' }]
    }
  })
}

function timesPeer(scenario: string, { least, peer: name }: { least: number; peer: string }): Goal {
  return {
    scenario,
    wanted: `${least.toFixed(2)} × ${name}`,
    judge(ours, peer) {
      const theirs = peer(name)
      return { got: `${times(ours, theirs)} ×`, reached: ours.rate >= least * theirs.rate }
    },
  }
}

/** `perUnit`: factor from the scenario's CPU seconds to the goal's unit. */
function atMostCpu(
  scenario: string,
  { most, unit, perUnit, bare: bareName }: { most: number; unit: string; perUnit: number; bare?: string },
): Goal {
  return {
    scenario,
    wanted: `CPU at most ${most.toFixed(1)} ${unit}`,
    judge(ours, peer) {
      if (ours.cpu === null) throw new MissingPeer('its CPU time is not known')
      const took = ours.cpu * perUnit
      const bare = bareName === undefined ? null : peer(bareName).cpu
      const beside = bare === null ? '' : `, ${bareName} ${(bare * perUnit).toFixed(2)}`
      return { got: `${took.toFixed(2)} ${unit}${beside}`, reached: took <= most }
    },
  }
}

function resumable(title: string, ofPlain: number): Goal {
  return {
    scenario: title,
    wanted: `2.00 × @tus/server, and ${ofPlain.toFixed(2)} × our plain upload`,
    judge(ours, peer) {
      const [theirs, onBun, plain] = [peer(TUS_SERVER), peer(TUS_ON_BUN), peer(MULTIPART)]
      return {
        got: `${times(ours, theirs)} × @tus/server (${times(ours, onBun)} × on Bun), ${times(ours, plain)} × plain`,
        reached: ours.rate >= 2 * theirs.rate && ours.rate >= ofPlain * plain.rate,
      }
    },
  }
}

function requestsASecond(scenario: string, least: number): Goal {
  return {
    scenario,
    wanted: `${amount(least)} requests/s`,
    judge(ours, peer) {
      const got = `${amount(ours.rate)} requests/s, ${times(ours, peer(BARE))} × bare`
      return { got, reached: ours.rate >= least }
    },
  }
}

function contender({ figures }: Measured, name: string): BenchFigures {
  const found = figures.find((row) => row.name === name)
  if (found === undefined) throw new MissingPeer('a peer is missing')
  return found
}

function times(ours: BenchFigures, peer: BenchFigures): string {
  return (ours.rate / peer.rate).toFixed(2)
}
