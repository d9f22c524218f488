/** Numbers for Prometheus. They are each node's own, so one node is asked and looked at. */
import { beforeAll, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { z } from 'zod'
import { markDamaged, markVerified } from '../../../src/core/damage.rows.ts'
import { MINUTE } from '../../../src/domain/clock.ts'
import { routes } from '../../../src/server/routes.ts'
import { watchEvents } from '../../support/clients/events.ts'
import { readMetrics } from '../../support/clients/metrics.ts'
import { api, bearer, GENEROUS, randomBytes, upload, visit } from '../../support/clients/public.ts'
import { atNode, onCluster, type TestHoldfast } from '../../support/servers/holdfast.ts'
import { hostOfFile } from '../../support/servers/owned-host.ts'
import { contentOf } from '../../support/storage/stored-contents.ts'

const TOKEN = 'a-token-for-prometheus'
const ROOT = join(import.meta.dir, '../../..')
const REQUESTS = 'holdfast_http_requests_total'

let node: TestHoldfast
let key: string
const whole = await hostOfFile({ ...GENEROUS, metrics: { token: TOKEN } })
beforeAll(async () => {
  node = atNode(whole)
  key = (await whole.addAccount()).apiKey
})

const metrics = () => readMetrics(node, TOKEN)

describe('metrics', () => {
  test.each([
    ['no token', {}],
    ['another token', bearer('a-token-for-somebody')],
    ['no bearer token', { authorization: `Basic ${TOKEN}` }],
  ] as const)('are told to nobody who sends %s', async (_, headers) => {
    const { status } = await visit(node, '/metrics', { headers })
    expect(status).toBe(401)
  })

  test('are text of version 0.0.4, which no page of another origin may read', async () => {
    const { headers } = await visit(node, '/metrics', { headers: bearer(TOKEN) })
    expect(headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8')
    expect(headers.get('access-control-allow-origin')).toBeNull()
  })

  test('count requests by the pattern of their route, method and status', async () => {
    const file = await upload(node, { key })
    const route = '/api/v1/file/{id}'
    const before = await metrics()
    for (const identifier of [file.slug, file.uuid]) await api(node, key, 'GET', `/api/v1/file/${identifier}`)
    await visit(node, `/api/v1/file/${file.slug}`)
    const after = await metrics()
    const more = (labels: Record<string, string>) =>
      after.sum(REQUESTS, { route, ...labels }) - before.sum(REQUESTS, { route, ...labels })
    expect(more({ method: 'GET', status: '200' })).toBe(2)
    expect(more({ method: 'GET', status: '401' })).toBe(1)
    const name = 'holdfast_http_request_duration_seconds'
    expect(after.sum(`${name}_count`, { route })).toBe(after.sum(`${name}_bucket`, { route, le: '+Inf' }))
    expect(after.sum(`${name}_count`, { route })).toBe(after.sum(REQUESTS, { route }))
  })

  test('count who signs in like everybody, and tell nothing of the links that people are given', async () => {
    await visit(node, '/api/v1/session')
    await visit(node, '/sign-up/a-secret-of-somebody')
    const after = await metrics()
    expect(after.sum(REQUESTS, { route: '/api/v1/session', method: 'GET', status: '401' })).toBe(1)
    expect(after.sum(REQUESTS, { route: '/sign-up/{token}', method: 'GET', status: '404' })).toBe(1)
    expect(after.values(REQUESTS, 'route').join()).not.toContain('secret')
  })

  test('count who watches for events when that begins, and not again when it ends', async () => {
    const labels = { route: '/api/v1/events' }
    const counted = async () => {
      const now = await metrics()
      return [now.sum(REQUESTS, labels), now.sum('holdfast_http_request_duration_seconds_count', labels)]
    }
    const watcher = await watchEvents(node, key)
    expect(await counted()).toEqual([1, 1])
    await watcher[Symbol.asyncDispose]()
    expect(await counted()).toEqual([1, 1])
  })

  test('have one label for all addresses that are none, and for all methods that are none', async () => {
    for (const path of ['/a', '/a/b', '/assets/none.js', '/api/v2/x', '/d']) await visit(node, path)
    for (const method of ['BREW', 'PROPFIND']) await visit(node, '/', { method })
    const after = await metrics()
    const known = new Set(['-', '/assets/{name}', ...routes.map(({ path }) => path)])
    expect(after.values(REQUESTS, 'route').filter((route) => !known.has(route))).toEqual([])
    expect(after.values(REQUESTS, 'method')).not.toContain('BREW')
  })

  test('count the bytes of bodies that stream and of those that do not', async () => {
    const bytes = randomBytes(300_000)
    const before = await metrics()
    const file = await upload(node, { key, bytes })
    const between = await metrics()
    const page = await visit(node, `/d/${file.slug}?download=1`)
    const { pathname, search } = new URL(page.headers.get('location') ?? '', node.url)
    await (await visit(node, pathname + search)).arrayBuffer()
    const after = await metrics()
    const received = 'holdfast_http_received_bytes_total'
    const sent = 'holdfast_http_sent_bytes_total'
    const taken = between.sum(received) - before.sum(received)
    expect(taken).toBeGreaterThanOrEqual(bytes.byteLength)
    expect(taken).toBeLessThan(bytes.byteLength + 10_000)
    // What /metrics itself answers is among them, and weighs less than this.
    const given = after.sum(sent) - between.sum(sent)
    expect(given).toBeGreaterThanOrEqual(bytes.byteLength)
    expect(given).toBeLessThan(2 * bytes.byteLength)
  })

  test('tell what the installation holds, and how its parts do', async () => {
    // What the database is asked is remembered for a while.
    whole.clock.advance(MINUTE)
    const before = await metrics()
    const { slug } = await upload(node, { key, bytes: randomBytes(1234) })
    const copy = await contentOf(whole, slug)
    await markDamaged(whole.database, copy, 'hash', 1)
    whole.clock.advance(MINUTE)
    await whole.runJobs()
    const after = await metrics()
    const more = (name: string) => after.sum(name) - before.sum(name)
    expect(more('holdfast_files')).toBe(1)
    expect(more('holdfast_storage_used_bytes')).toBe(1234)
    expect(after.sum('holdfast_storage_reserved_bytes')).toBe(0)
    expect(after.sum('holdfast_uploads_in_progress')).toBe(0)
    expect(more('holdfast_damaged_contents')).toBe(1)
    await markVerified(whole.database, [copy], 2)
    expect(after.sum('holdfast_database_up')).toBe(1)
    expect(after.sum('holdfast_job_runs_total', { task: 'remove garbage', outcome: 'done' })).toBeGreaterThan(
      0,
    )
    expect(after.sum('holdfast_event_loop_lag_seconds_count')).toBeGreaterThan(0)
    expect(after.sum('holdfast_database_connections_max') > 0).toBe(onCluster)
    expect(after.sum('holdfast_s3_requests_total', { method: 'PUT', status: '200' }) > 0).toBe(onCluster)
  })
})

describe('of every metric', () => {
  test('the guide tells, and of no other', async () => {
    const page = await Bun.file(join(ROOT, 'docs/operations/metrics.md')).text()
    const listed = [...page.matchAll(/^\| `([a-z0-9_]+)`/gm)].map(([, name]) => name ?? '')
    expect(listed.sort()).toEqual([...(await metrics()).names].sort())
  })

  test('the dashboard and the rules know the name', async () => {
    const { names } = await metrics()
    const rules = rulesFile.parse(
      Bun.YAML.parse(await Bun.file(join(ROOT, 'deploy/prometheus/rules.yml')).text()),
    )
    const expressions = [
      ...rules.groups.flatMap((group) => group.rules.map(({ expr }) => expr)),
      ...expressionsIn(await Bun.file(join(ROOT, 'deploy/grafana/holdfast.json')).json()),
    ]
    expect(expressions.length).toBeGreaterThan(12)
    const used = expressions.flatMap((text) => text.match(/\b(?:holdfast|process)_[a-z0-9_]+/g) ?? [])
    const known = names.flatMap((name) => [name, `${name}_bucket`, `${name}_sum`, `${name}_count`])
    expect(used.filter((name) => !known.includes(name))).toEqual([])
  })
})

const rulesFile = z.object({
  groups: z.array(
    z.object({ rules: z.array(z.object({ alert: z.string(), expr: z.string(), for: z.string() })) }),
  ),
})

const dashboard = z.object({
  panels: z.array(z.object({ targets: z.array(z.object({ expr: z.string() })).optional() })),
})

function expressionsIn(json: unknown): string[] {
  return dashboard.parse(json).panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr))
}
