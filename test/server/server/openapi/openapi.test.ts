import { beforeAll, describe, expect, test } from 'bun:test'
import { z } from 'zod'
import { routes } from '../../../../src/server/routes.ts'
import { STATUS_OF } from '../../../support/clients/api.ts'
import {
  compile,
  type OpenApi,
  type Operation,
  openApi,
  responseSchema,
} from '../../../support/clients/openapi.ts'
import { hostOfFile } from '../../../support/servers/owned-host.ts'

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

describe('the OpenAPI document', () => {
  test('names each operation once, those of pages too', () => {
    const operations = Object.values(document.paths).flatMap((methods) => Object.values(methods))
    const ids = operations.map(({ operationId }) => operationId)
    expect(new Set(ids).size).toBe(operations.length)
    for (const id of ids) expect(id).toMatch(/^[a-z]+([A-Z][a-z]*)*\d?$/)
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

  test('has a licence, and describes every tag that an operation has, and no other', () => {
    const { info, tags } = z
      .object({
        info: z.object({ license: z.object({ name: z.string(), url: z.url() }) }),
        tags: z.array(z.object({ name: z.string(), description: z.string().min(1) })),
      })
      .parse(document)
    expect(info.license.name).toBe('MIT')
    const used = Object.values(document.paths).flatMap((methods) =>
      Object.values(methods).flatMap((each) => each.tags),
    )
    expect(tags.map(({ name }) => name).sort()).toEqual([...new Set(used)].sort())
  })

  test('states "public" as one of three plain types, each with values of its own type', () => {
    const body = z.object({
      content: z.object({
        'application/json': z.object({
          schema: z.object({ properties: z.object({ public: z.looseObject({}) }) }),
        }),
      }),
    })
    for (const each of [
      operation('post', '/api/v1/folder'),
      operation('patch', '/api/v1/folder/{identifier}'),
    ]) {
      const { schema } = body.parse(each.requestBody).content['application/json']
      expect(schema.properties.public).toEqual({
        oneOf: [{ type: 'boolean' }, { type: 'integer', enum: [1, 0] }, { type: 'string', enum: ['1', '0'] }],
      })
    }
  })

  test('states no list of values of more than one type, but null', () => {
    const mixed: unknown[] = []
    JSON.stringify(document, (key, value: unknown) => {
      if (key === 'enum' && Array.isArray(value)) {
        const types = new Set(value.filter((each) => each !== null).map((each) => typeof each))
        if (types.size > 1) mixed.push(value)
      }
      return value
    })
    expect(mixed).toEqual([])
  })

  test('describes the HEAD of an upload with its offset in a header, and without any body', () => {
    const { responses } = operation('head', '/api/v1/uploads/{upload}')
    expect(responses).toMatchObject({ 200: { headers: { 'Upload-Offset': { required: true } } } })
    for (const response of Object.values(responses)) expect(response.content).toBeUndefined()
    expect(operation('get', '/api/v1/uploads/{upload}').responses['200']).not.toHaveProperty('headers')
  })

  test('has an example for every body of bytes, which is no name of a file', () => {
    const bodies: unknown[] = []
    JSON.stringify(document, (_, value: unknown) => {
      const { success, data } = z
        .object({ format: z.literal('binary'), example: z.unknown() })
        .safeParse(value)
      if (success) bodies.push(data.example)
      return value
    })
    expect(new Set(bodies)).toEqual(new Set(['The bytes of the file']))
  })

  test('shows of a 404 the code that the server answers there', async () => {
    const { apiKey } = await holdfast.addAccount()
    const [folder, link] = ['k7w2m9x4q1z8v3b6', 'q7xk2fmw9hbz4tdc']
    const uuid = '8d5f3c1e-2a47-4b8c-9f60-1e7d3b5a9c24'
    const json = (method: string, body: object) => ({
      method,
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    })
    const tus = { 'Tus-Resumable': '1.0.0' }
    const missing: [string, string, string, RequestInit][] = [
      ['get', '/api/v1/file/{id}', '/api/v1/file/999999', {}],
      ['patch', '/api/v1/file/{id}', '/api/v1/file/999999', json('PATCH', { name: 'a' })],
      ['post', '/api/v1/file/move', '/api/v1/file/move', json('POST', { file: 999_999, folder: 'root' })],
      ['get', '/api/v1/files', `/api/v1/files?folder=${folder}`, {}],
      ['post', '/api/v1/files/move', '/api/v1/files/move', json('POST', { files: [999_999], folder })],
      ['post', '/api/v1/files/download', '/api/v1/files/download', json('POST', { files: [999_999] })],
      ['get', '/api/v1/folder/{identifier}', `/api/v1/folder/${folder}`, {}],
      ['get', '/api/v1/folder/{identifier}/files', `/api/v1/folder/${folder}/files`, {}],
      ['get', '/api/v1/folder/{identifier}/download', `/api/v1/folder/${folder}/download`, {}],
      ['post', '/api/v1/folder', '/api/v1/folder', json('POST', { name: 'a', parent: folder })],
      ['post', '/api/v1/links', '/api/v1/links', json('POST', { files: [999_999] })],
      ['get', '/api/v1/links', '/api/v1/links?file=999999', {}],
      ['get', '/api/v1/links/{link}', `/api/v1/links/${link}`, {}],
      ['delete', '/api/v1/links/{link}', `/api/v1/links/${link}`, { method: 'DELETE' }],
      ['get', '/api/v1/uploads/{upload}', '/api/v1/uploads/Zt5oYx0gWmN4rQ1sLk8vBa', { headers: tus }],
      ['post', '/api/v1/upload/cancel', '/api/v1/upload/cancel', json('POST', { slug: 'Kx3RmP7vTq2a' })],
      ['get', '/api/v1/upload/status', '/api/v1/upload/status?slug=Kx3RmP7vTq2a', {}],
      [
        'put',
        '/api/v1/upload/{name}',
        '/api/v1/upload/a.txt',
        { method: 'PUT', body: 'a', headers: { 'X-Folder-ID': folder } },
      ],
      ['get', '/api/v1/webhooks/{id}', '/api/v1/webhooks/999999', {}],
      ['get', '/t/{uuid}', `/t/${uuid}`, {}],
      [
        'post',
        '/v2/api/public/download',
        '/v2/api/public/download',
        json('POST', { file_slug: 'Kx3RmP7vTq2a' }),
      ],
      ['post', '/v2/api/public/folder', '/v2/api/public/folder', json('POST', { folder })],
      [
        'post',
        '/api/v1/file/report',
        '/api/v1/file/report',
        json('POST', { slug: 'Kx3RmP7vTq2a', reason: 'other' }),
      ],
      ['get', '/d/{slug}', '/d/Kx3RmP7vTq2a', {}],
      ['get', '/f/{identifier}', `/f/${folder}`, {}],
      ['get', '/l/{link}', `/l/${link}`, {}],
      ['get', '/api/v1/receipt/{receipt}', '/api/v1/receipt/none', {}],
    ]
    const example = z.object({
      content: z.object({
        'application/json': z.object({ example: z.object({ error: z.string() }) }),
      }),
    })
    for (const [method, path, address, init] of missing) {
      const headers = { Accept: 'application/json', Authorization: `Bearer ${apiKey}`, ...init.headers }
      const answer = await fetch(`${holdfast.url}${address}`, { ...init, headers })
      const { error } = z.object({ error: z.string() }).parse(await answer.json())
      const shown = example.parse(operation(method, path).responses['404'])
      expect([method, path, shown.content['application/json'].example.error]).toEqual([method, path, error])
    }
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
    const served = routes.flatMap(({ method, path, documentation: { head } }) => [
      `${method} ${path}`,
      ...(head === undefined ? [] : [`head ${path}`]),
    ])
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
