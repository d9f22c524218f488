import { beforeAll, expect, test } from 'bun:test'
import { type Api, api, refusal } from '../../support/clients/api.ts'
import { GENEROUS } from '../../support/clients/public.ts'
import { hostOfFile } from '../../support/servers/owned-host.ts'

const PATH = '/v2/api/public/folder'

let owner: Api
let guest: Api
const host = await hostOfFile(GENEROUS)
beforeAll(async () => {
  owner = api(host, (await host.addAccount()).apiKey)
  guest = api(host)
})

test('a folder is listed page by page, subfolders first, then files with the newest first', async () => {
  const folder = await owner.folder('holiday')
  const sub = await owner.folder('inside', { parent: folder })
  const slugs: string[] = []
  for (let number = 0; number < 100; number++) {
    slugs.unshift((await owner.put(`${number}`, { name: `${number}.txt`, folder })).slug)
  }
  const first = await guest.post(PATH, { folder })
  expect(first.body).toMatchObject({
    name: 'holiday',
    page: 1,
    pages: 2,
    folders: [{ identifier: sub, name: 'inside' }],
    files: slugs.slice(0, 99).map((slug) => ({ slug, url: `${host.url}/d/${slug}` })),
  })
  expect((await guest.post(PATH, { folder, page: 2 })).body).toMatchObject({
    folders: [],
    files: [{ slug: slugs[99] }],
  })
  expect((await guest.post(PATH, { folder, page: 3 })).body).toMatchObject({
    pages: 2,
    folders: [],
    files: [],
  })
  expect(await guest.post(PATH, { folder, page: 0 })).toMatchObject(refusal('INVALID_REQUEST'))
})

test('private subfolders are listed for their owner alone', async () => {
  const folder = await owner.folder('with secrets')
  await owner.folder('secret', { parent: folder, public: 0 })
  expect((await guest.post(PATH, { folder })).body).toMatchObject({ folders: [] })
  expect((await owner.post(PATH, { folder })).body).toMatchObject({ folders: [{ name: 'secret' }] })
})

test('a folder that nobody has is not found', async () => {
  expect(await guest.post(PATH, { folder: 'z000000000000000' })).toMatchObject(refusal('FOLDER_NOT_FOUND'))
})
