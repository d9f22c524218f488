import { expect, test } from 'bun:test'
import { z } from 'zod'
import { MINUTE } from '../../../src/domain/clock.ts'
import type { AccountId, FolderIdentifier } from '../../../src/domain/ids.ts'
import { type Api, api, refusal } from '../../support/clients/api.ts'
import { intoBin } from '../../support/clients/bin.ts'
import { atNode } from '../../support/servers/holdfast.ts'
import { hostOfFile } from '../../support/servers/owned-host.ts'

const host = await hostOfFile()

const weight = z.object({ files: z.number(), bytes: z.number() })
const shape = z.object({
  data: z.object({
    kinds: z.array(weight.extend({ kind: z.string() })),
    folders: z.array(weight.extend({ identifier: z.string(), name: z.string() })),
    other_folders: weight,
    top_level: weight,
  }),
})

async function shares(caller: Api) {
  const { data } = shape.parse((await caller.get('/api/v1/account/storage')).body)
  return { ...data, kinds: Object.fromEntries(data.kinds.map(({ kind, bytes }) => [kind, bytes])) }
}

test('all that is stored is told by kind and by folder, without the bin and other accounts', async () => {
  const { apiKey, username } = await host.addAccount()
  const owner = api(host, apiKey)
  await api(host, (await host.addAccount()).apiKey).put('another account’s')
  const nothing = { files: 0, bytes: 0 }
  expect(await shares(owner)).toEqual({
    kinds: { image: 0, video: 0, audio: 0, document: 0, archive: 0, other: 0 },
    folders: [],
    other_folders: nothing,
    top_level: nothing,
  })

  const heavy = await owner.folder('heavy')
  const inside = await owner.folder('inside', { parent: heavy })
  const [light, gone] = [await owner.folder('light'), await owner.folder('gone')]
  const put = (name: string, bytes: number, folder?: string) =>
    owner.put('x'.repeat(bytes), { name, ...(folder === undefined ? {} : { folder }) })
  await put('a.jpg', 1)
  await put('b.mp4', 2, inside)
  await put('c.flac', 4, inside)
  await put('d.pdf', 8, heavy)
  await put('e.ts', 16, heavy)
  await put('f.zip', 32, light)
  await put('g.unknown', 64, heavy)
  await put('h.png', 128, gone)
  const away = await put('i.png', 256, heavy)
  await intoBin(owner, { files: [away.slug], folders: [gone] })
  expect(await shares(owner)).toEqual({
    kinds: { image: 1, video: 2, audio: 4, document: 24, archive: 32, other: 64 },
    folders: [
      { identifier: heavy, name: 'heavy', files: 5, bytes: 94 },
      { identifier: light, name: 'light', files: 1, bytes: 32 },
    ],
    other_folders: nothing,
    top_level: { files: 1, bytes: 1 },
  })

  const bound = api(host, await host.addKey(username, { folder: heavy as FolderIdentifier }))
  expect(await shares(bound)).toEqual({
    kinds: { image: 0, video: 2, audio: 4, document: 24, archive: 0, other: 64 },
    folders: [{ identifier: inside, name: 'inside', files: 2, bytes: 6 }],
    other_folders: nothing,
    top_level: { files: 3, bytes: 88 },
  })
  await owner.post('/folder/delete', { identifiers: [heavy] })
  expect(await bound.get('/api/v1/account/storage')).toMatchObject(refusal('FOLDER_NOT_FOUND'))
  expect((await shares(owner)).kinds).toMatchObject({ image: 1, video: 0, document: 0, archive: 32 })
})

test('ten folders are named, the heaviest first, and the rest is told together', async () => {
  const owner = api(host, (await host.addAccount()).apiKey)
  for (let bytes = 1; bytes <= 12; bytes++) {
    await owner.put('x'.repeat(bytes), { folder: await owner.folder(`of ${bytes}`) })
  }
  const { folders, other_folders } = await shares(owner)
  expect(folders.map(({ bytes }) => bytes)).toEqual([12, 11, 10, 9, 8, 7, 6, 5, 4, 3])
  expect(other_folders).toEqual({ files: 2, bytes: 3 })
})

test('where there are very many files, kinds are counted once a minute at a node', async () => {
  const { id, apiKey } = await host.addAccount()
  const owner = api(atNode(host), apiKey)
  await owner.put('1', { name: 'a.jpg' })
  await host.database
    .updateTable('folders')
    .set({ tree_files: 10_001 })
    .where('account_id', '=', id as AccountId)
    .execute()
  const counted = async () => {
    const { kinds, top_level } = await shares(owner)
    return [kinds.image, top_level.bytes]
  }
  expect(await counted()).toEqual([1, 1])
  await owner.put('23', { name: 'b.jpg' })
  expect(await counted()).toEqual([1, 3])
  host.clock.advance(MINUTE)
  expect(await counted()).toEqual([3, 3])
})
