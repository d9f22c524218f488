/** The table of routes: what a row says, and what no row may say. */
import { expect, test } from 'bun:test'
import { z } from '@hono/zod-openapi'
import { endpoint } from '../../../src/server/endpoint.ts'
import { anybody, row } from '../../../src/server/router.ts'
import { routes } from '../../../src/server/routes.ts'

const takingFields = endpoint({
  documentation: {
    summary: 'Takes fields',
    tag: 'Files',
    body: { schema: z.object({}), type: 'application/json' },
    answers: {},
    errors: [],
  },
  handle: async () => new Response(),
})

test('a row for an endpoint that takes a body has to say how large it may be', () => {
  expect(() => row('post', '/taken', anybody, 'any origin', 0, takingFields)).toThrow('has no limit')
  expect(row('post', '/taken', anybody, 'any origin', 1000, takingFields).body).toBe(1000)
})

test('no two rows have the same method and path', () => {
  const places = routes.map(({ method, path }) => `${method} ${path}`)
  expect(places).toEqual([...new Set(places)])
})

test('all rows of one path may be called from the same pages', () => {
  const origins = Map.groupBy(routes, ({ path }) => path)
  for (const [path, rows] of origins) {
    expect([path, new Set(rows.map((each) => each.origins)).size]).toEqual([path, 1])
  }
})

/** A picture of 5 MB at most, for callers that are known. */
const PICTURES = ['/api/v1/folder/thumbnail', '/api/v1/admin/branding/logo']

test('only what is read as a stream has a body larger than a list of identifiers', () => {
  for (const { path, body, documentation } of routes) {
    const isFile = ['multipart/form-data', 'application/octet-stream'].includes(
      documentation.body?.type ?? '',
    )
    if (PICTURES.includes(path) && body !== 0) {
      expect(body).toBe(6 * 1024 * 1024)
      continue
    }
    if (isFile) expect([path, body]).toEqual([path, 'stream'])
    if (body !== 'stream') expect(body).toBeLessThanOrEqual(1024 * 1024)
  }
})
