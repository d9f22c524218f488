import { type Contender, OURS, type Sample, type Scenario, sampleOf, withUsage } from './measure.ts'
import type { Endpoint, Holdfast, Server } from './servers.ts'

export const FILE_DETAIL = 'File detail, with a key'

const CONNECTIONS = 32
/** Files on a page. */
export const PAGE = 100
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
    scenario(FILE_DETAIL, detailPath(parts.slug)),
    scenario(`First page, ${PAGE} of ${parts.fileCount} files`, pagePath(1)),
    scenario(`Last page, ${PAGE} of ${parts.fileCount} files`, pagePath(Math.ceil(parts.fileCount / PAGE))),
  ]
}

export function detailPath(slug: string): string {
  return `/api/v1/file/${slug}`
}

/** Of the list of all files; the first is 1. */
export function pagePath(page: number): string {
  return `/api/v1/files?per_page=${PAGE}&page=${page}`
}

/** wrk, or null when it is not installed. */
export function findWrk(): string | null {
  return Bun.which('wrk')
}

/** 32 connections at once ask for the path, for some seconds. */
export function loaded(
  name: string,
  server: Endpoint,
  path: string,
  key: string,
  seconds: number,
): Contender {
  return {
    name,
    async run(): Promise<Sample> {
      const { result, ...used } = await withUsage(server, () => wrk(server.url + path, key, seconds))
      return sampleOf(result.rate, used, result.requests / MILLION)
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
