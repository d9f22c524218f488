import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { SCOPES, type Scope } from '../../../src/domain/access.ts'
import { routes } from '../../../src/server/routes.ts'
import { type Api, api, refusal } from '../../support/clients/api.ts'
import { sessionHeaders, signedIn } from '../../support/clients/site-visitor.ts'
import { tus } from '../../support/clients/tus.ts'
import { startHoldfast, type TestHoldfast } from '../../support/servers/holdfast.ts'

/** What each scope is good for. A route that takes keys and is not here is nobody's. */
const COVERED = {
  any: ['GET /api/v1/account'],
  read: [
    'GET /api/v1/files',
    'GET /api/v1/file/{id}',
    'POST /api/v1/files/download',
    'GET /api/v1/folders',
    'GET /api/v1/folder/{identifier}',
    'GET /api/v1/folder/{identifier}/files',
    'GET /api/v1/folder/{identifier}/folders',
    'GET /api/v1/folder/{identifier}/download',
    'GET /api/v1/uploads',
    'GET /api/v1/links',
    'GET /api/v1/links/{link}',
    'GET /api/v1/links/{link}/contributions',
    'GET /api/v1/links/{link}/log',
    'GET /api/v1/bin',
    'GET /api/v1/events',
    'GET /api/v1/account/storage',
    'GET /api/v1/account/requests',
  ],
  upload: [
    'POST /api/v1/upload',
    'PUT /api/v1/upload/{name}',
    'PUT /{name}',
    'PUT /',
    'GET /api/v1/upload/status',
    'POST /api/v1/receipt/{receipt}/claim',
    'POST /api/v1/uploads',
    'POST /api/v1/transfers',
    'PATCH /api/v1/uploads/{upload}',
    'GET /api/v1/uploads/{upload}',
    'DELETE /api/v1/uploads/{upload}',
    'POST /api/v1/uploads/{upload}',
    'POST /api/v1/folder',
    'POST /',
  ],
  manage: [
    'PATCH /api/v1/file/{id}',
    'POST /api/v1/file/move',
    'POST /api/v1/files/move',
    'POST /file/delete',
    'POST /api/v1/file/delete',
    'PATCH /api/v1/folder/{identifier}',
    'POST /api/v1/folder/thumbnail',
    'POST /api/v1/folder/move',
    'POST /api/v1/folders/move',
    'POST /folder/delete',
    'POST /api/v1/folder/delete',
    'POST /api/v1/bin',
    'POST /api/v1/bin/restore',
    'POST /api/v1/bin/delete',
    'DELETE /api/v1/bin',
    'POST /api/v1/upload/cancel',
    'GET /api/v1/keys',
    'POST /api/v1/key',
    'DELETE /api/v1/key/{id}',
    'POST /api/v1/links',
    'PATCH /api/v1/links/{link}',
    'DELETE /api/v1/links/{link}',
    'GET /api/v1/webhooks',
    'POST /api/v1/webhooks',
    'GET /api/v1/webhooks/{id}',
    'PATCH /api/v1/webhooks/{id}',
    'DELETE /api/v1/webhooks/{id}',
    'POST /api/v1/webhooks/{id}/test',
    'GET /api/v1/webhooks/{id}/deliveries',
    'POST /api/v1/webhooks/{id}/deliveries/{delivery}/replay',
  ],
} as const

const covered = Object.entries(COVERED).flatMap(([need, names]) => names.map((name) => ({ need, name })))
const taking = routes.filter(({ need }) => need !== undefined)
const nameOf = ({ method, path }: { method: string; path: string }) => `${method.toUpperCase()} ${path}`

describe('the scopes', () => {
  test('of every route that takes a key are these', () => {
    const declared = taking.map((route) => ({ need: route.need, name: nameOf(route) }))
    const inOrder = (rows: readonly object[]) => rows.map((row) => JSON.stringify(row)).sort()
    expect(inOrder(declared)).toEqual(inOrder(covered))
  })

  test('are those of the documentation', async () => {
    const text = await Bun.file(join(import.meta.dir, '../../../docs/api/README.md')).text()
    for (const [need, names] of Object.entries(COVERED)) {
      const row = text
        .split('\n')
        .find((line) => line.startsWith(`| ${need === 'any' ? 'any' : `\`${need}\``} |`))
      const documented = [...(row ?? '').matchAll(/`([A-Z]+ \/[^`]*)`/g)].map(([, name]) => name ?? '')
      expect(documented.sort()).toEqual([...names].sort())
    }
  })
})

describe('a key with a single scope', () => {
  let holdfast: TestHoldfast
  let keys: Record<Scope, string>
  let owner: Api
  let username: string

  beforeAll(async () => {
    holdfast = await startHoldfast({ rateLimit: 1_000_000 })
    const account = await holdfast.addAccount()
    username = account.username
    owner = api(holdfast, account.apiKey)
    const made = SCOPES.map(async (scope) => [scope, await holdfast.addKey(username, { scopes: [scope] })])
    keys = Object.fromEntries(await Promise.all(made))
  })
  afterAll(() => holdfast.stop())

  /** The route asked with nothing that could be found or done. */
  function bare(name: string, key: string): Promise<Response> {
    const [method = '', path = ''] = name.split(' ')
    return fetch(holdfast.url + path.replaceAll(/\{\w+\}/g, '0'), {
      method,
      headers: {
        authorization: `Bearer ${key}`,
        'content-type': 'application/json',
        ...(path.endsWith('{upload}')
          ? { 'tus-resumable': '1.0.0', 'x-http-method-override': method === 'POST' ? 'PATCH' : method }
          : {}),
      },
      ...(method === 'GET' ? {} : { body: '{}' }),
    })
  }

  test.each(covered)(
    'is let in by $name when it has $need, and else told what it lacks',
    async ({ name, need }) => {
      for (const scope of SCOPES) {
        const response = await bare(name, keys[scope])
        if (need === 'any' || need === scope) {
          expect([401, 403, 500]).not.toContain(response.status)
          // Events have no end.
          await response.body?.cancel()
        } else {
          const text = await response.text()
          expect(response.status).toBe(403)
          expect(JSON.parse(text)).toMatchObject({ success: false, error: 'SCOPE_MISSING' })
          expect(JSON.parse(text).message).toContain(`"${need}"`)
        }
      }
    },
  )

  test('does what its scope says, and nothing of what the others say', async () => {
    const reader = api(holdfast, keys.read)
    const uploader = api(holdfast, keys.upload)
    const manager = api(holdfast, keys.manage)
    const folder = await uploader.folder('in')
    const file = await uploader.put('12345', { folder })
    expect(await uploader.get(`/api/v1/upload/status?slug=${file.slug}`)).toMatchObject({
      body: { status: 'completed' },
    })
    const { path } = await tus(uploader).start(5, { folder, relativePath: 'deeper/a.txt' })
    expect(await tus(uploader).patch(path, 0, new Uint8Array(5))).toMatchObject({ status: 204 })
    expect(await tus(reader).patch(path, 5, new Uint8Array(0))).toMatchObject({ status: 403 })
    expect(await reader.get(`/api/v1/file/${file.slug}`)).toMatchObject({
      body: { data: { folder_id: folder } },
    })
    expect(await manager.post('/api/v1/file/move', { file: file.slug })).toMatchObject({ status: 200 })
    expect(await reader.post('/file/delete', { identifiers: [file.slug] })).toMatchObject(
      refusal('SCOPE_MISSING'),
    )
    expect(await owner.get(`/api/v1/file/${file.slug}`)).toMatchObject({
      body: { data: { folder_id: 'root' } },
    })
  })

  test('counts against its rate and is told so also when it lacks the scope', async () => {
    const key = await holdfast.addKey(username, { scopes: ['upload'] })
    const left = async () =>
      (await api(holdfast, key).get('/api/v1/files')).headers.get('ratelimit-remaining')
    expect([await left(), await left()]).toEqual(['999999', '999998'])
  })

  test('sees what is private by its public address when it may read, and is nobody there when not', async () => {
    const folder = await owner.folder('private', { public: 0 })
    const { slug, uuid } = await owner.put('12345', { folder, name: 'a.txt' })
    for (const path of [`/d/${slug}`, `/d/${slug}?download=1`, `/f/${folder}`, `/t/${uuid}`]) {
      const status = async (key: string) =>
        (
          await fetch(holdfast.url + path, {
            redirect: 'manual',
            headers: { authorization: `Bearer ${key}` },
          })
        ).status
      expect([200, 302]).toContain(await status(keys.read))
      expect([await status(keys.upload), await status(keys.manage)]).toEqual([404, 404])
    }
  })

  test('is not told by an Idempotency-Key what another key has uploaded', async () => {
    const headers = { 'idempotency-key': 'twice' }
    const first = await owner.put('1', { headers })
    const again = await owner.put('2', { headers })
    const session = sessionHeaders(await signedIn(holdfast, username))
    const signed = await api(holdfast).put('2', { headers: { ...headers, ...session } })
    expect(signed.slug).toBe(first.slug)
    const other = await api(holdfast, keys.upload).put('3', { headers })
    expect([again.slug, other.slug === first.slug]).toEqual([first.slug, false])
    expect((await api(holdfast, keys.upload).put('4', { headers })).slug).toBe(other.slug)
  })
})
