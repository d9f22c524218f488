import { runProgram } from '../test/support/processes/program.ts'
import { type Contender, type Measurement, OURS, type Scenario, sampleOf, withUsage } from './measure.ts'
import type { MeasuredEndpoint, MeasuredHoldfast, MeasuredServer } from './servers.ts'

export const FILE_DETAIL = 'File detail, with a key'

const CONNECTIONS = 32
/** Files per page. */
export const PAGE = 100
const MILLION = 1_000_000

export interface RequestParts {
  readonly holdfast: MeasuredHoldfast
  /** Key of an account with `fileCount` files. */
  readonly key: string
  readonly slug: string
  readonly fileCount: number
  readonly bare: MeasuredServer
  /** Duration of each measurement. */
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

/** Path of a page of the list of files; pages count from 1. */
export function pagePath(page: number): string {
  return `/api/v1/files?per_page=${PAGE}&page=${page}`
}

/** Path of wrk, or null when it is not installed. */
export function findWrk(): string | null {
  return Bun.which('wrk')
}

/** Requests the path over 32 concurrent connections for some seconds. */
export function loaded(
  name: string,
  server: MeasuredEndpoint,
  path: string,
  key: string,
  seconds: number,
): Contender {
  return {
    name,
    async run(): Promise<Measurement> {
      const { result, ...used } = await withUsage(server, () => wrk(server.url + path, key, seconds))
      return sampleOf(result.rate, used, result.requests / MILLION)
    },
  }
}

/**
 * Runs wrk with keep-alive and without pipelining. Throws when any response was an error, since other work
 * was measured then.
 */
async function wrk(url: string, key: string, seconds: number): Promise<{ rate: number; requests: number }> {
  const options = ['-t1', `-c${CONNECTIONS}`, `-d${seconds}s`, '-H', `Authorization: Bearer ${key}`]
  const { code, output: said } = await runProgram(['wrk', ...options, url])
  const rate = /Requests\/sec:\s+([\d.]+)/.exec(said)?.[1]
  const requests = /(\d+) requests in/.exec(said)?.[1]
  if (code !== 0 || rate === undefined || requests === undefined) throw new Error(`wrk: ${said}`)
  if (/Non-2xx|Socket errors/.test(said)) throw new Error(`wrk: not every answer was a success\n${said}`)
  return { rate: Number(rate), requests: Number(requests) }
}
