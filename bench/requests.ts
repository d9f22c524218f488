import { type Contender, OURS, type Sample, type Scenario, withUsage } from './measure.ts'
import type { Holdfast, Server } from './servers.ts'

export const FILE_DETAIL = 'File detail, with a key'

const CONNECTIONS = 32
const MILLION = 1_000_000

export interface RequestParts {
  readonly holdfast: Holdfast
  /** The key of an account with `fileCount` files. */
  readonly key: string
  readonly slug: string
  readonly fileCount: number
  readonly bare: Server
  /** How long each measurement lasts. */
  readonly seconds: number
}

export function requestScenarios(parts: RequestParts): Scenario[] {
  const detail = `/api/v1/file/${parts.slug}`
  const page = (number: number) => `/api/v1/files?per_page=100&page=${number}`
  const last = Math.ceil(parts.fileCount / 100)
  const scenario = (title: string, path: string): Scenario => ({
    title,
    unit: 'requests/s',
    per: 'million requests',
    contenders: [
      loaded(OURS, parts.holdfast, path, parts.key, parts.seconds),
      loaded('bare Bun server, constant answer', parts.bare, path, parts.key, parts.seconds),
    ],
  })
  return [
    scenario(FILE_DETAIL, detail),
    scenario(`First page, 100 of ${parts.fileCount} files`, page(1)),
    scenario(`Last page, 100 of ${parts.fileCount} files`, page(last)),
  ]
}

/** wrk, or null when it is not installed. */
export function findWrk(): string | null {
  return Bun.which('wrk')
}

function loaded(name: string, server: Server, path: string, key: string, seconds: number): Contender {
  return {
    name,
    async run(): Promise<Sample> {
      const { result, cpuSeconds, peakBytes } = await withUsage(server.pid, () =>
        wrk(server.url + path, key, seconds),
      )
      return { rate: result.rate, cpu: (cpuSeconds / result.requests) * MILLION, peakBytes }
    },
  }
}

/** Keep-alive, no pipelining. Throws when any answer was not a success, for then it was not the work that was timed. */
async function wrk(url: string, key: string, seconds: number): Promise<{ rate: number; requests: number }> {
  const load = Bun.spawn(
    ['wrk', '-t1', `-c${CONNECTIONS}`, `-d${seconds}s`, '-H', `Authorization: Bearer ${key}`, url],
    { stdout: 'pipe', stderr: 'pipe' },
  )
  const said = await load.stdout.text()
  const rate = /Requests\/sec:\s+([\d.]+)/.exec(said)?.[1]
  const requests = /(\d+) requests in/.exec(said)?.[1]
  if ((await load.exited) !== 0 || rate === undefined || requests === undefined)
    throw new Error(`wrk: ${said}`)
  if (/Non-2xx|Socket errors/.test(said)) throw new Error(`wrk: not every answer was a success\n${said}`)
  return { rate: Number(rate), requests: Number(requests) }
}
