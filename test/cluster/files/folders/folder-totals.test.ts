/** What the page of a folder says about how much is in it, which must not tell of what somebody may not see. */
import { describe, expect, test } from 'bun:test'
import { sql } from 'kysely'
import { makeFolderIdentifier, systemRandom } from '../../../../src/domain/random.ts'
import {
  bearer,
  changeFolder,
  elements,
  type Headers,
  makeFolder,
  randomBytes,
  unlock,
  upload,
  visit,
} from '../../../support/clients/public.ts'
import { ownedHost } from '../../../support/servers/owned-host.ts'

const { host, key } = await ownedHost()
const KB = 1024

/** What the button for the zip says, and the description that other sites show. */
async function said(folder: string, headers: Headers = {}): Promise<{ zip: string; summary: string }> {
  const response = await visit(host, `/f/${folder}`, { headers })
  expect(response.status).toBe(200)
  const html = await response.text()
  return {
    zip: elements(html, 'a.download-all')[0]?.text ?? '',
    summary: elements(html, 'meta[name=description]')[0]?.attributes.content ?? '',
  }
}

const put = (folder: string, kilobytes: number) =>
  upload(host, { key, folder, bytes: randomBytes(kilobytes * KB) })

describe('the size of all that is in a folder', () => {
  test('is that of its whole tree', async () => {
    const folder = await makeFolder(host, key)
    const inner = await makeFolder(host, key, { parent: folder })
    const innermost = await makeFolder(host, key, { parent: inner })
    await put(folder, 1)
    await put(inner, 2)
    await put(innermost, 4)
    expect(await said(folder)).toEqual({
      zip: 'Download all (7 KB)',
      summary: '1 folder, 1 file, 7 KB in all',
    })
  })

  test('has nothing of private or locked folders in it, at any depth, but for the owner', async () => {
    const folder = await makeFolder(host, key)
    const open = await makeFolder(host, key, { parent: folder })
    const hidden = await makeFolder(host, key, { parent: open, public: 0 })
    const locked = await makeFolder(host, key, { parent: open, password: 'sesame' })
    const below = await makeFolder(host, key, { parent: locked })
    const twice = await makeFolder(host, key, { parent: below, password: 'inner' })
    await put(folder, 1)
    await put(open, 2)
    await put(hidden, 4)
    await put(locked, 8)
    await put(below, 16)
    await put(twice, 32)
    await put(await makeFolder(host, key, { parent: hidden }), 64)

    expect((await said(folder)).zip).toBe('Download all (3 KB)')
    expect((await said(open)).zip).toBe('Download all (2 KB)')
    expect((await said(folder, bearer(key))).zip).toBe('Download all (127 KB)')
    expect((await said(folder, bearer((await host.addAccount()).apiKey))).zip).toBe('Download all (3 KB)')

    const once = await unlock(host, `/f/${locked}`, 'sesame')
    expect((await said(folder, once)).zip).toBe('Download all (27 KB)')
    const both = await unlock(host, `/f/${twice}`, 'inner', once)
    expect((await said(folder, both)).zip).toBe('Download all (59 KB)')
  })

  test('follows when a folder becomes private, or is deleted', async () => {
    const folder = await makeFolder(host, key)
    const inner = await makeFolder(host, key, { parent: folder })
    await put(folder, 1)
    await put(inner, 2)
    await changeFolder(host, key, inner, { public: 0 })
    expect((await said(folder)).zip).toBe('Download all (1 KB)')
    await changeFolder(host, key, inner, { public: 1 })
    expect((await said(folder)).zip).toBe('Download all (3 KB)')
    await visit(host, '/folder/delete', {
      method: 'POST',
      headers: { ...bearer(key), 'content-type': 'application/json' },
      body: JSON.stringify({ identifiers: [inner] }),
    })
    expect((await said(folder)).zip).toBe('Download all (1 KB)')
  })

  test('is that of a folder which holds nothing but what may not be seen: none', async () => {
    const folder = await makeFolder(host, key)
    await put(await makeFolder(host, key, { parent: folder, public: 0 }), 1)
    const empty = await makeFolder(host, key)
    expect(await said(folder)).toEqual(await said(empty))
  })
})

describe('a tree of very many folders', () => {
  /** Puts so many folders into one, which has a file of 1 KB. */
  async function folderOf(count: number, isPublic: 0 | 1): Promise<string> {
    const folder = await makeFolder(host, key)
    await put(folder, 1)
    const { database } = host
    const parent = await database
      .selectFrom('folders')
      .select(['id', 'account_id'])
      .where(sql.ref('identifier'), '=', folder)
      .executeTakeFirstOrThrow()
    const rows = Array.from({ length: count }, (_, at) => ({
      identifier: makeFolderIdentifier(systemRandom),
      account_id: parent.account_id,
      parent_id: parent.id,
      name: `${at}`,
      name_sort: `${at}`,
      is_public: isPublic,
      created_at: 0,
    }))
    await database.insertInto('folders').values(rows).execute()
    await database.updateTable('folders').set({ tree_folders: count }).where('id', '=', parent.id).execute()
    return folder
  }

  test('has a size for its owner alone', async () => {
    const folder = await folderOf(1001, 1)
    expect(await said(folder)).toEqual({ zip: 'Download all', summary: '1,001 folders, 1 file' })
    expect((await said(folder, bearer(key))).zip).toBe('Download all (1 KB)')
  })

  test('that are all hidden is to others as if they were not there', async () => {
    const folder = await folderOf(1001, 0)
    expect(await said(folder)).toEqual({ zip: 'Download all (1 KB)', summary: '1 file, 1 KB' })
  })
})

describe('a subfolder with a password', () => {
  test('tells how many files it has once it is unlocked', async () => {
    const folder = await makeFolder(host, key)
    const locked = await makeFolder(host, key, { parent: folder, password: 'sesame' })
    for (const kilobytes of [1, 2, 3]) await put(locked, kilobytes)
    const facts = async (headers: Headers) => {
      const html = await (await visit(host, `/f/${folder}`, { headers })).text()
      return elements(html, 'a.subfolder-item .small')[0]?.text
    }
    expect(await facts({})).toBe('Password required')
    expect(await facts(await unlock(host, `/f/${locked}`, 'sesame'))).toBe('3 files')
    expect(await facts(bearer(key))).toBe('3 files')
  })
})
