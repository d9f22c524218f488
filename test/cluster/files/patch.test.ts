import { beforeAll, describe, expect, test } from 'bun:test'
import { z } from 'zod'
import type { FolderIdentifier } from '../../../src/domain/ids.ts'
import { routes } from '../../../src/server/routes.ts'
import { type Api, api, newcomer, refusal } from '../../support/clients/api.ts'
import { hostOfFile } from '../../support/servers/owned-host.ts'

let caller: Api

const holdfast = await hostOfFile()
beforeAll(async () => {
  caller = await newcomer(holdfast)
})

const resource = z.object({ data: z.record(z.string(), z.unknown()) })
const got = async (path: string) => resource.parse((await caller.get(path)).body).data
const folderOf = (id: string) => got(`/api/v1/folder/${id}`)

describe('PATCH of a folder', () => {
  test.each(['parent', 'parent_id'])(
    'moves it by %s, with everything inside, and back to the top',
    async (field) => {
      const [place, moved] = [await caller.folder(`place ${field}`), await caller.folder(`moved ${field}`)]
      const inner = await caller.folder('inner', { parent: moved })
      const answer = await caller.patch(`/api/v1/folder/${moved}`, { [field]: place })
      expect(answer).toMatchObject({
        status: 200,
        body: { data: { id: moved, parent: place, parent_id: place } },
      })
      expect(await folderOf(place)).toMatchObject({ total_folders: 2 })
      expect(await folderOf(inner)).toMatchObject({ parent: moved })
      expect(await caller.patch(`/api/v1/folder/${moved}`, { [field]: null })).toMatchObject({
        body: { data: { parent: null } },
      })
    },
  )

  test('moves and renames at once: the name must be free in the new place alone', async () => {
    const place = await caller.folder('crowded')
    await caller.folder('same', { parent: place })
    const moved = await caller.folder('same')
    const path = `/api/v1/folder/${moved}`
    expect(await caller.patch(path, { parent: place, public: 0 })).toMatchObject(refusal('DUPLICATE_NAME'))
    expect(await folderOf(moved)).toMatchObject({ parent: null, public: true })
    const answer = await caller.patch(path, { parent: place, name: 'other', public: 0 })
    expect(answer).toMatchObject({ body: { data: { parent: place, name: 'other', public: false } } })
    expect(await caller.patch(path, { parent: moved })).toMatchObject(refusal('INVALID_DESTINATION'))
    expect(await caller.patch(path, { parent: 'nosuchfolder0000' })).toMatchObject(
      refusal('FOLDER_NOT_FOUND'),
    )
  })

  test('takes back what its creation answered', async () => {
    const { body } = await caller.post('/api/v1/folder', { name: 'created', password: 'sesame' })
    const { data } = resource.parse(body)
    const changed = await caller.patch(`/api/v1/folder/${data.identifier}`, { ...data, name: 'renamed' })
    expect(changed).toMatchObject({
      status: 200,
      body: { data: { name: 'renamed', parent: null, has_password: true } },
    })
  })

  test('takes back what a program got, with one thing changed', async () => {
    const [place, other] = [await caller.folder('first place'), await caller.folder('second place')]
    const moved = await caller.folder('sent back', { parent: place })
    const path = `/api/v1/folder/${moved}`
    const detail = await folderOf(moved)
    expect(await caller.patch(path, detail)).toMatchObject({ status: 200, body: { data: { parent: place } } })
    for (const [field, target] of [
      ['parent_id', other],
      ['parent', place],
    ] as const) {
      const answer = await caller.patch(path, { ...(await folderOf(moved)), [field]: target })
      expect(answer).toMatchObject({ status: 200, body: { data: { parent: target } } })
    }
    expect(await caller.patch(path, { parent: other, parent_id: null })).toMatchObject(
      refusal('INVALID_REQUEST'),
    )
    expect(await folderOf(moved)).toMatchObject({ parent: place })
  })

  test('by a key that is kept to the folder takes back what that key got', async () => {
    const account = await holdfast.addAccount()
    const folder = await api(holdfast, account.apiKey).folder('bound', {
      parent: await api(holdfast, account.apiKey).folder('above'),
    })
    const grant = { folder: folder as FolderIdentifier }
    const bound = api(holdfast, await holdfast.addKey(account.username, grant))
    const { data } = resource.parse((await bound.get(`/api/v1/folder/${folder}`)).body)
    expect(data).toMatchObject({ parent: null })
    expect(await bound.patch(`/api/v1/folder/${folder}`, { ...data, public: false })).toMatchObject({
      status: 200,
      body: { data: { public: false, parent: null } },
    })
  })
})

describe('PATCH of a file', () => {
  test('moves it by folder, renames it, or both', async () => {
    const place = await caller.folder('for files')
    const { slug } = await caller.put('x', { name: 'a.txt' })
    const path = `/api/v1/file/${slug}`
    expect(await caller.patch(path, { folder: place })).toMatchObject({
      status: 200,
      body: { data: { folder_id: place, name: 'a.txt' } },
    })
    expect(await folderOf(place)).toMatchObject({ file_count: 1 })
    expect(await caller.patch(path, { folder: 'root', name: 'b.txt' })).toMatchObject({
      body: { data: { folder_id: 'root', name: 'b.txt' } },
    })
    expect(await caller.patch(path, { folder: 'nosuchfolder0000', name: 'c.txt' })).toMatchObject(
      refusal('FOLDER_NOT_FOUND'),
    )
    expect(await got(path)).toMatchObject({ name: 'b.txt', folder_id: 'root' })
  })

  test('ignores what cannot be changed', async () => {
    const { slug } = await caller.put('x', { name: 'a.txt' })
    const detail = await got(`/api/v1/file/${slug}`)
    const listed = { ...detail, picture_url: `/t/${slug}` }
    const answer = await caller.patch(`/api/v1/file/${slug}`, { ...listed, name: 'b.txt', size: 5 })
    expect(answer).toMatchObject({ status: 200, body: { data: { ...detail, name: 'b.txt' } } })
    expect(await caller.patch(`/api/v1/file/${slug}`, { id: 1 })).toMatchObject({ status: 200 })
  })
})

test('a field that the resource does not have is refused by name, and nothing is changed', async () => {
  const folder = await caller.folder('known')
  const { slug } = await caller.put('x', { name: 'a.txt' })
  for (const [path, field] of [
    [`/api/v1/folder/${folder}`, 'folder'],
    [`/api/v1/folder/${folder}`, 'constructor'],
    [`/api/v1/file/${slug}`, 'parent_id'],
  ] as const) {
    const answer = await caller.patch(path, { name: 'changed', [field]: 'root' })
    expect(answer).toMatchObject(refusal('UNKNOWN_FIELD'))
    expect(answer.body).toMatchObject({ message: expect.stringContaining(`"${field}"`) })
  }
  expect(await folderOf(folder)).toMatchObject({ name: 'known' })
  expect(await got(`/api/v1/file/${slug}`)).toMatchObject({ name: 'a.txt' })
})

test.each(routes.filter(({ method, auth }) => method === 'patch' && auth === 'key').map(({ path }) => path))(
  'a body without any field is refused at %s',
  async (path) => {
    const answer = await caller.patch(path.replaceAll(/\{\w+\}/g, '1'), {})
    expect(answer).toMatchObject(refusal('INVALID_REQUEST'))
    expect(answer.body).toMatchObject({ message: expect.stringContaining('names no field') })
  },
)
