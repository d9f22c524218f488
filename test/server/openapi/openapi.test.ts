import { beforeAll, describe, expect, test } from 'bun:test'
import { z } from 'zod'
import { routes } from '../../../src/server/routes.ts'
import { STATUS_OF } from '../../support/clients/api.ts'
import {
  compile,
  type OpenApi,
  type Operation,
  openApi,
  responseSchema,
} from '../../support/clients/openapi.ts'
import { hostOfFile } from '../../support/servers/owned-host.ts'

let document: OpenApi
const holdfast = await hostOfFile()
beforeAll(async () => {
  document = await openApi(holdfast)
})

/** The table of the specification and what the decisions add, with their auth column. */
const TABLE = [
  ['post', '/api/v1/upload', 'optional'],
  ['get', '/api/v1/upload/status', 'key'],
  ['get', '/api/v1/uploads', 'key'],
  ['get', '/api/v1/files', 'key'],
  ['get', '/api/v1/file/{id}', 'key'],
  ['patch', '/api/v1/file/{id}', 'key'],
  ['post', '/api/v1/file/move', 'key'],
  ['post', '/api/v1/files/move', 'key'],
  ['post', '/api/v1/files/download', 'key'],
  ['post', '/file/delete', 'key'],
  ['post', '/api/v1/file/delete', 'key'],
  ['get', '/api/v1/folders', 'key'],
  ['post', '/api/v1/folder', 'key'],
  ['patch', '/api/v1/folder/{identifier}', 'key'],
  ['get', '/api/v1/folder/{identifier}/files', 'key'],
  ['get', '/api/v1/folder/{identifier}/folders', 'key'],
  ['post', '/api/v1/folder/move', 'key'],
  ['post', '/api/v1/folders/move', 'key'],
  ['post', '/folder/delete', 'key'],
  ['post', '/api/v1/folder/delete', 'key'],
  ['get', '/api/v1/account', 'key'],
  ['post', '/api/v1/file/report', 'none'],
  ['get', '/health', 'none'],
  ['get', '/ready', 'none'],
] as const

function operation(method: string, path: string): Operation {
  const found = document.paths[path]?.[method]
  if (found === undefined) throw new Error(`${method} ${path} is not documented`)
  return found
}

const isPage = ({ tags }: Operation) => tags.includes('Site')

describe('the OpenAPI document', () => {
  test('names each operation of the API once, and none of the pages', () => {
    const operations = Object.values(document.paths).flatMap((methods) => Object.values(methods))
    const [pages, api] = [operations.filter(isPage), operations.filter((each) => !isPage(each))]
    const ids = api.map(({ operationId }) => operationId)
    expect(new Set(ids).size).toBe(api.length)
    for (const id of ids) expect(id).toMatch(/^[a-z]+([A-Z][a-z]*)*\d?$/)
    expect(pages.filter(({ operationId }) => operationId !== undefined)).toEqual([])
    expect(operation('get', '/api/v1/files')).toMatchObject({
      operationId: 'listFiles',
      summary: 'List files',
    })
  })

  test('is served as JSON to anybody, in version 3.1', async () => {
    const response = await fetch(`${holdfast.url}/api/v1/openapi.json`)
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toMatch(/^application\/json\b/)
    expect(await response.json()).toMatchObject({
      openapi: expect.stringMatching(/^3\.1\.\d$/),
      info: { title: expect.stringMatching(/./), version: expect.stringMatching(/./) },
    })
  })

  test('names a Bearer scheme', () => {
    expect(Object.values(document.components?.securitySchemes ?? {})).toContainEqual(
      expect.objectContaining({ type: 'http', scheme: 'bearer' }),
    )
  })

  test.each(TABLE)('and the route table have %s %s with the right authentication', (method, path, auth) => {
    expect(routes).toContainEqual(expect.objectContaining({ method, path, auth }))
    const { security = [] } = operation(method, path)
    const keyed = security.some((scheme) => Object.keys(scheme).length > 0)
    const open = security.length === 0 || security.some((scheme) => Object.keys(scheme).length === 0)
    expect({ keyed, open }).toEqual({ keyed: auth !== 'none', open: auth !== 'key' })
  })

  test('lets people who are signed in do what keys may, and alone what concerns signing in', () => {
    const session = { session: [] }
    for (const { method, path, auth, need } of routes) {
      const key = { key: need === undefined || need === 'any' ? [] : [need] }
      const expected = {
        key: [key, session],
        session: [session],
        administrator: [session],
        optional: [key, session, {}],
        none: [],
      }
      const { security } = operation(method, path)
      expect({ method, path, security }).toEqual({ method, path, security: expected[auth] })
    }
  })

  test('holds no path that the route table does not have', () => {
    const documented = Object.entries(document.paths).flatMap(([path, operations]) =>
      Object.keys(operations).map((method) => `${method} ${path}`),
    )
    const served = routes.map((route) => `${route.method} ${route.path}`)
    for (const each of documented) expect(served).toContain(each)
  })

  test('holds every route of the JSON API', () => {
    const inApi = routes.filter(({ path }) =>
      /^\/(api\/v1|file\/delete|folder\/delete|health|ready)/.test(path),
    )
    for (const { method, path } of inApi) {
      if (path !== '/api/v1/openapi.json') expect(document.paths[path]?.[method]).toBeDefined()
    }
  })

  test('gives a schema of JSON Schema 2020-12 for every answer of the JSON API', () => {
    for (const [method, path] of TABLE) {
      const each = operation(method, path)
      for (const status of Object.keys(each.responses)) {
        const schema = responseSchema(document, each, Number(status))
        expect(`${method} ${path} ${status}: ${schema === null ? 'none' : 'a schema'}`).toEndWith('a schema')
        if (schema !== null) expect(compile(document, schema)).toBeFunction()
      }
    }
  })

  test('documents a success for every operation, 201 for a new folder alone', () => {
    for (const [method, path] of TABLE) {
      const expected = path === '/api/v1/folder' ? '201' : '200'
      const successes = Object.keys(operation(method, path).responses).filter((status) =>
        status.startsWith('2'),
      )
      expect(successes).toEqual([expected])
    }
  })

  test.each(TABLE)('documents the refusals of %s %s that its authentication brings', (method, path, auth) => {
    const statuses = Object.keys(operation(method, path).responses)
    if (auth !== 'none') expect(statuses).toEqual(expect.arrayContaining(['401', '403', '429', '500', '503']))
  })

  test('closes the list of error codes, and knows them all', () => {
    const schema = responseSchema(document, operation('get', '/api/v1/account'), 401)
    const validate = compile(document, schema ?? {})
    const error = (code: unknown) => ({ success: false, message: 'no', error: code })
    for (const code of Object.keys(STATUS_OF)) expect(validate(error(code))).toBe(true)
    for (const code of ['SOMETHING_ELSE', '', 'not_found', null]) expect(validate(error(code))).toBe(false)
  })

  test('wants every field of an answer', () => {
    const fields = (path: string) => {
      const schema = responseSchema(document, operation('get', path), 200)
      const validate = compile(document, schema ?? {})
      validate({ success: true, data: {} })
      const missing = z.array(z.object({ params: z.object({ missingProperty: z.string().optional() }) }))
      return missing.parse(validate.errors).map((each) => each.params.missingProperty)
    }
    expect(fields('/api/v1/account')).toEqual(
      expect.arrayContaining([
        'id',
        'username',
        'storage_used',
        'storage_limit',
        'files_count',
        'folders_count',
        'api_requests_today',
      ]),
    )
    expect(fields('/api/v1/file/{id}')).toEqual(
      expect.arrayContaining(['id', 'uuid', 'slug', 'name', 'size', 'has_thumbnail', 'views', 'expires_at']),
    )
  })
})
