/** Programs written against a released version's OpenAPI document go on with today's. */
import { describe, expect, test } from 'bun:test'
import { basename, join } from 'node:path'
import { keptVersions } from '../../../support/databases/kept-version.ts'
import { broken } from './compatibility.ts'
import { OPENAPI_FILE } from './openapi-file.ts'

const today: unknown = await Bun.file(OPENAPI_FILE).json()

test.each(keptVersions().map((place) => [basename(place), place] as const))('of %s', async (_, place) => {
  const packed = await Bun.file(join(place, 'openapi.json.gz')).bytes()
  const earlier: unknown = JSON.parse(new TextDecoder().decode(Bun.gunzipSync(packed)))
  expect(broken(earlier, today)).toEqual([])
})

describe('what is taken away is named:', () => {
  const list = ['paths', '/api/v1/files', 'get']
  const result = ['components', 'schemas', 'UploadResult']

  test.each<readonly [string, readonly (string | number)[], unknown, string]>([
    ['an operation', ['paths', '/api/v1/files'], undefined, 'GET /api/v1/files: is gone'],
    [
      'its name in generated programs',
      [...list, 'operationId'],
      'files',
      'GET /api/v1/files: is called files',
    ],
    ['a parameter', [...list, 'parameters'], [], 'GET /api/v1/files: takes no page'],
    ['a freedom', [...list, 'parameters', 0, 'required'], true, 'GET /api/v1/files: must have page'],
    [
      'a value',
      [...list, 'parameters', 3, 'schema', 'enum'],
      ['name', 'size', 'downloads'],
      'GET /api/v1/files sort: takes fewer values',
    ],
    [
      'a high value',
      [...list, 'parameters', 1, 'schema', 'maximum'],
      99,
      'GET /api/v1/files per_page: has a lower maximum',
    ],
    ['a status', [...list, 'responses', '404'], undefined, 'GET /api/v1/files: never answers 404'],
    ['a field of an answer', [...result, 'properties', 'sha256'], undefined, ': has no sha256'],
    ['a field that is always there', [...result, 'required'], ['success'], ': may lack slug'],
    [
      'the type of a field',
      [...result, 'properties', 'size', 'type'],
      'string',
      '.size: was integer, is string',
    ],
    [
      'a kind of body',
      ['paths', '/api/v1/file/{id}', 'patch', 'requestBody', 'content'],
      {},
      'PATCH /api/v1/file/{id} body: is no application/json',
    ],
  ])('%s', (_, path, value, line) => {
    expect(broken(today, changed(today, path, value)).join('\n')).toContain(line)
  })
})

/** A copy with another value there; without it where the value is undefined. */
function changed(node: unknown, [key, ...path]: readonly (string | number)[], value: unknown): unknown {
  if (key === undefined) return value
  if (Array.isArray(node)) return node.map((each, at) => (at === key ? changed(each, path, value) : each))
  if (typeof node !== 'object' || node === null) throw new Error(`nothing is called ${key}`)
  const fields = Object.entries(node)
  if (!fields.some(([name]) => name === key)) throw new Error(`nothing is called ${key}`)
  return Object.fromEntries(
    fields
      .map(([name, each]) => [name, name === key ? changed(each, path, value) : each] as const)
      .filter(([, each]) => each !== undefined),
  )
}
