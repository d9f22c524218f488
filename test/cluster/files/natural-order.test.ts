/** Names are sorted as people count, wherever names are sorted. */
import { expect, test } from 'bun:test'
import { z } from 'zod'
import { sortedByName } from '../../../src/domain/sort-key.ts'
import { fileNames, readPage } from '../../support/clients/folder-page.ts'
import { elements, makeFolder, upload } from '../../support/clients/public.ts'
import { ownedHost } from '../../support/servers/owned-host.ts'

const { host, key } = await ownedHost()

const NAMES = [
  '10.txt',
  '2.txt',
  'Äpfel 10',
  'apfel 9',
  'file ١٠',
  'FILE 02',
  'file 2',
  'Zebra',
  'файл 10',
  'Файл 9',
]
const SORTED = [
  '2.txt',
  '10.txt',
  'apfel 9',
  'Äpfel 10',
  'FILE 02',
  'file 2',
  'file ١٠',
  'Zebra',
  'Файл 9',
  'файл 10',
]

const named = z.object({ data: z.array(z.object({ name: z.string() })) })

async function names(path: string): Promise<string[]> {
  const answer = await fetch(host.url + path, { headers: { Authorization: `Bearer ${key}` } })
  return named.parse(await answer.json()).data.map(({ name }) => name)
}

/** The folder holds a file and a folder of each name. */
async function filled(): Promise<string> {
  const folder = await makeFolder(host, key)
  for (const name of NAMES) {
    await upload(host, { key, folder, name })
    await makeFolder(host, key, { parent: folder, name })
  }
  return folder
}

test('lists of files and folders, searches and the page of a folder have the natural order, page by page', async () => {
  const folder = await filled()
  const pages = async (path: string) => {
    const all: string[] = []
    for (const page of [1, 2, 3, 4]) all.push(...(await names(`${path}&per_page=3&page=${page}`)))
    return all
  }
  const files = `/api/v1/files?folder=${folder}&sort=name`
  const folders = `/api/v1/folder/${folder}/folders?sort=name`
  expect(await pages(`${files}&order=asc`)).toEqual(SORTED)
  expect(await pages(`${files}&order=desc`)).toEqual(SORTED.toReversed())
  expect(await pages(`${folders}&order=asc`)).toEqual(SORTED)
  expect(await pages(`${folders}&order=desc`)).toEqual(SORTED.toReversed())
  // What a browser makes of a list that it has.
  expect(sortedByName(await names(`/api/v1/folder/${folder}/folders`), (name) => name)).toEqual(SORTED)
  expect(await names(`${files}&order=asc&search=FILE`)).toEqual(['FILE 02', 'file 2', 'file ١٠'])

  const page = await readPage(host, `/f/${folder}?sort=name`)
  expect(fileNames(page)).toEqual(SORTED)
  expect(elements(page, 'a.subfolder-item bdi').map(({ attributes }) => attributes.title)).toEqual(SORTED)
}, 120_000)

test('what is renamed or moved goes to the place of its name', async () => {
  const folder = await makeFolder(host, key)
  const change = (path: string, body: object) =>
    fetch(`${host.url}/api/v1/${path}`, {
      method: 'PATCH',
      headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    })
  const elsewhere = await upload(host, { key, name: 'part 3' })
  for (const name of ['part 1', 'part 11']) await upload(host, { key, folder, name })
  const file = await upload(host, { key, folder, name: 'zzz' })
  const inner = await makeFolder(host, key, { parent: folder, name: 'zzz' })
  for (const name of ['part 1', 'part 11']) await makeFolder(host, key, { parent: folder, name })
  expect((await change(`file/${file.slug}`, { name: 'part 02' })).status).toBe(200)
  expect((await change(`file/${elsewhere.slug}`, { folder })).status).toBe(200)
  expect((await change(`folder/${inner}`, { name: 'part 2' })).status).toBe(200)
  expect(await names(`/api/v1/files?folder=${folder}&sort=name&order=asc`)).toEqual([
    'part 1',
    'part 02',
    'part 3',
    'part 11',
  ])
  expect(await names(`/api/v1/folder/${folder}/folders?page=1&sort=name`)).toEqual([
    'part 1',
    'part 2',
    'part 11',
  ])
}, 120_000)
