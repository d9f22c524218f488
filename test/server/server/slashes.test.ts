import { beforeAll, describe, expect, test } from 'bun:test'
import { type Api, newcomer } from '../../support/clients/api.ts'
import { hostOfFile } from '../../support/servers/owned-host.ts'

let caller: Api
let slug: string
let folder: string

const holdfast = await hostOfFile({ publicUrl: 'https://files.example' })
beforeAll(async () => {
  caller = await newcomer(holdfast)
  slug = (await caller.put('x')).slug
  folder = await caller.folder('shared')
})

const visit = (path: string, init: RequestInit = {}) =>
  fetch(`${holdfast.url}${path}`, { redirect: 'manual', ...init })

describe('repeated and trailing slashes', () => {
  test.each(['/api/v1/files/', '//api/v1/files', '/api//v1///files//', '/api/v1//account/'])(
    'lead to the route in place, for JSON: %s',
    async (path) => {
      expect(await caller.get(path)).toMatchObject({ status: 200, body: { success: true } })
      // The limit counts it, and a guest is not let in.
      expect((await visit(path)).status).toBe(401)
      const preflight = await visit(path, { method: 'OPTIONS', headers: { origin: 'https://else.example' } })
      expect(preflight.status).toBe(204)
      expect(preflight.headers.get('access-control-allow-origin')).toBe('*')
    },
  )

  test.each(['/file/delete/', '//file//delete', '/folder/delete//'])('also with a body: %s', async (path) => {
    expect(await caller.post(path, { identifiers: ['x'] })).toMatchObject({
      status: 200,
      body: { failed_deletes: 1 },
    })
  })

  test.each(['/api/v1/upload/', '//api/v1/upload'])('take uploads: %s', async (path) => {
    const body = new FormData()
    body.append('file', new Blob(['y'.repeat(2_000_000)]), 'y.txt')
    const answer = await visit(path, { method: 'POST', body })
    expect(answer.status).toBe(200)
    expect(await answer.json()).toMatchObject({ success: true, size: 2_000_000 })
  })

  test('lead to the one address of a page, with its query', async () => {
    for (const [path, target] of [
      [`/d/${slug}/`, `/d/${slug}`],
      [`//d//${slug}?download=1`, `/d/${slug}?download=1`],
      [`/f/${folder}//?page=2`, `/f/${folder}?page=2`],
      ['/d/%0D%0Ax%20%2F/', '/d/%0D%0Ax%20%2F'],
    ] as const) {
      const answer = await visit(path)
      expect(answer.status).toBe(308)
      expect(answer.headers.get('location')).toBe(`https://files.example${target}`)
    }
  })

  test.each(['/health/', '/health//', '/sign-in/', '/v2//api/public/view', `/t//x`, '/files//'])(
    'mean what they say elsewhere: %s',
    async (path) => {
      const { status } = await visit(path, { headers: { accept: 'application/json' } })
      expect([404, 405]).toContain(status)
    },
  )
})
