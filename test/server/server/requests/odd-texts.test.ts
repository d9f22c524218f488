/** Texts that PostgreSQL takes no part in: with a NUL in them. And numbers beyond what a database can count. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { z } from 'zod'
import { HOUR } from '../../../../src/domain/clock.ts'
import { openApi } from '../../../support/clients/openapi.ts'
import {
  PASSWORD,
  type Reply,
  signedIn,
  type Visitor,
  visitor,
} from '../../../support/clients/site-visitor.ts'
import { atNode, startHoldfast, type TestHoldfast } from '../../../support/servers/holdfast.ts'

const ODD = 'a\0b'
const NUMBERS = ['abc', '9'.repeat(20), '1e9', '-1']

let host: TestHoldfast
let administrator: Visitor

beforeAll(async () => {
  // A balancer refuses some of it by itself.
  host = atNode(await startHoldfast())
  const { username } = await host.addAccount('root')
  await host.makeAdmin(username)
  administrator = await signedIn(host, username)
}, 120_000)
afterAll(() => host.stop())

const schemaShape = z.object({
  type: z.union([z.string(), z.array(z.string())]).optional(),
  example: z.unknown().optional(),
  enum: z.array(z.unknown()).optional(),
  const: z.unknown().optional(),
  anyOf: z.array(z.unknown()).optional(),
  items: z.unknown().optional(),
  properties: z.record(z.string(), z.unknown()).optional(),
})
const operationShape = z.object({
  parameters: z.array(z.object({ name: z.string(), in: z.string() })).optional(),
  requestBody: z.object({ content: z.record(z.string(), z.object({ schema: z.unknown() })) }).optional(),
})

/** A value that fits the schema as nearly as its examples tell; the password is that of who asks. */
function sample(schema: unknown, name = ''): unknown {
  const known = schemaShape.parse(schema)
  if (name === 'password') return PASSWORD
  if (known.example !== undefined) return known.example
  if (known.const !== undefined) return known.const
  if (known.enum !== undefined) return known.enum[0]
  if (known.anyOf !== undefined) return sample(known.anyOf[0], name)
  const type = Array.isArray(known.type) ? known.type[0] : known.type
  if (known.properties !== undefined) {
    const fields = Object.entries(known.properties)
    return Object.fromEntries(fields.map(([field, each]) => [field, sample(each, field)]))
  }
  if (type === 'array') return [sample(known.items ?? {}, name)]
  if (type === 'boolean') return true
  return type === 'integer' || type === 'number' ? 1 : 'text'
}

/** The value once for each text in it, with that text made odd. */
function* madeOdd(value: unknown): Generator<unknown> {
  if (typeof value === 'string') yield ODD
  else if (Array.isArray(value)) for (const odd of madeOdd(value[0])) yield [odd]
  else if (typeof value === 'object' && value !== null) {
    for (const [field, each] of Object.entries(value)) {
      for (const odd of madeOdd(each)) yield { ...value, [field]: odd }
    }
  }
}

/** Every request that the document knows, once for each place that a text can be odd at. */
async function* oddRequests(): AsyncGenerator<{
  method: string
  path: string
  type?: string
  body?: unknown
}> {
  const { paths } = await openApi(host)
  for (const [template, operations] of Object.entries(paths)) {
    for (const [verb, documented] of Object.entries(operations)) {
      const { parameters = [], requestBody } = operationShape.parse(documented)
      const method = verb.toUpperCase()
      const path = template.replaceAll(/\{\w+\}/g, '1')
      const [type, { schema } = { schema: {} }] = Object.entries(requestBody?.content ?? {})[0] ?? []
      const isText = type === 'application/json' || type === 'application/x-www-form-urlencoded'
      const usual = isText ? { type, body: sample(schema) } : {}
      if (template.includes('{')) {
        for (const odd of ['%00', encodeURIComponent(ODD)]) {
          yield { method, path: template.replaceAll(/\{\w+\}/g, odd), ...usual }
        }
      }
      for (const { name } of parameters.filter((each) => each.in === 'query')) {
        yield { method, path: `${path}?${name}=${encodeURIComponent(ODD)}`, ...usual }
      }
      if (isText) for (const body of madeOdd(usual.body)) yield { method, path, type, body }
    }
  }
}

function ask(browser: Visitor, { method, path, type, body }: Parameters<typeof answerOf>[1]): Promise<Reply> {
  if (type !== 'application/x-www-form-urlencoded') return browser.send(method, path, body)
  const fields = z.record(z.string(), z.unknown()).parse(body)
  return browser.submit(path, Object.fromEntries(Object.entries(fields).map(([k, v]) => [k, String(v)])))
}

async function answerOf(
  browser: Visitor,
  request: { method: string; path: string; type?: string; body?: unknown },
): Promise<number> {
  return (await ask(browser, request)).status
}

test('a NUL anywhere in a request is never a fault of the server', async () => {
  const faults: unknown[] = []
  let asked = 0
  for await (const request of oddRequests()) {
    // Neither wrong passwords nor requests are too many.
    if (asked++ % 5 === 0) host.clock.advance(HOUR)
    for (const browser of [administrator, visitor(() => host.url)]) {
      const status = await answerOf(browser, request)
      if (status >= 500) faults.push({ ...request, status })
    }
  }
  expect(faults).toEqual([])
  expect(asked).toBeGreaterThan(150)
  expect((await administrator.get('/api/v1/session')).status).toBe(200)
}, 300_000)

test('what is no number of a row is no row', async () => {
  for (const kind of ['session', 'passkey', 'key', 'admin/account', 'admin/report']) {
    const method = kind.startsWith('admin') ? 'GET' : 'DELETE'
    for (const number of NUMBERS) {
      const { status } = await administrator.send(method, `/api/v1/${kind}/${number}`)
      expect({ kind, number, status }).toEqual({ kind, number, status: 404 })
    }
  }
})

test('a name that nobody can have is like one that nobody has', async () => {
  for (const username of ['a'.repeat(101), ODD, 'ab', '\u212Aelvin', ' root']) {
    const reply = await visitor(() => host.url).submit('/sign-in', { username, password: PASSWORD })
    expect({ username, status: reply.status }).toEqual({ username, status: 403 })
    host.clock.advance(HOUR)
  }
})
