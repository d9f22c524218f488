/** Whose files are in a zip. That a folder itself is closed is in access-matrix.test.ts. */
import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { z } from 'zod'
import {
  api,
  bearer,
  changeFolder,
  type Headers,
  makeFolder,
  unlock,
  upload,
  visit,
} from '../../../support/clients/public.ts'
import { zipMembers } from '../../../support/clients/zip-programs.ts'
import { temporaryFolder } from '../../../support/processes/child.ts'
import { describeWith } from '../../../support/processes/tools.ts'
import { ownedHost } from '../../../support/servers/owned-host.ts'

const { host, key } = await ownedHost()
const stranger = (await host.addAccount('stranger')).apiKey

async function names(address: string, headers: Headers = {}): Promise<string[]> {
  using folder = temporaryFolder()
  const zip = join(folder.path, 'it.zip')
  const answer = await visit(host, address, { headers })
  expect(answer.status).toBe(200)
  await Bun.write(zip, await answer.bytes())
  return (await zipMembers(zip)).map(({ name }) => name).sort()
}

/** A file in the folder itself, in an open, a private and a locked one below it, and in an open one below each. */
async function scene(): Promise<{ top: string; hidden: string; locked: string }> {
  const top = await makeFolder(host, key)
  const below = async (name: string, parent: string, fields = {}) => {
    const folder = await makeFolder(host, key, { name, parent, ...fields })
    await upload(host, { key, folder, name: 'file.txt' })
    return folder
  }
  await upload(host, { key, folder: top, name: 'file.txt' })
  const open = await below('open', top)
  const hidden = await below('hidden', top, { public: 0 })
  const locked = await below('locked', top, { password: 'sesame' })
  for (const parent of [open, hidden, locked]) await below('deep', parent)
  return { top, hidden, locked }
}

const openNames = ['file.txt', 'open/', 'open/deep/', 'open/deep/file.txt', 'open/file.txt']
const lockedNames = ['locked/', 'locked/deep/', 'locked/deep/file.txt', 'locked/file.txt']
const hiddenNames = ['hidden/', 'hidden/deep/', 'hidden/deep/file.txt', 'hidden/file.txt']

describeWith(['python3'], 'a zip of a folder with closed folders in it', () => {
  test('leaves out for strangers what they may not see', async () => {
    const { top } = await scene()
    for (const headers of [{}, bearer(stranger), bearer('hf_nobody')]) {
      expect(await names(`/f/${top}?download=zip`, headers)).toEqual(openNames)
    }
  })

  test('holds what a visitor has unlocked, and no longer once the password has changed', async () => {
    const { top, locked } = await scene()
    const cookie = await unlock(host, `/f/${locked}`, 'sesame')
    const address = `/f/${top}?download=zip`
    expect(await names(address, cookie)).toEqual([...openNames, ...lockedNames].sort())
    await changeFolder(host, key, locked, { password: 'other' })
    expect(await names(address, cookie)).toEqual(openNames)
  })

  test('holds everything for its owner', async () => {
    const { top } = await scene()
    const all = [...openNames, ...lockedNames, ...hiddenNames].sort()
    expect(await names(`/f/${top}?download=zip`, bearer(key))).toEqual(all)
    expect(await names(`/api/v1/folder/${top}/download`, bearer(key))).toEqual(all)
  })

  test('goes on with no range of what was closed since', async () => {
    const { top } = await scene()
    const address = `/f/${top}?download=zip`
    const first = await visit(host, address, { headers: { range: 'bytes=0-99' } })
    const headers = { range: 'bytes=100-', 'if-range': first.headers.get('etag') ?? '' }
    expect((await visit(host, address, { headers })).status).toBe(206)
    await changeFolder(host, key, top, { password: 'sesame' })
    expect((await visit(host, address, { headers })).status).toBe(403)
    await changeFolder(host, key, top, { public: 0 })
    expect((await visit(host, address, { headers })).status).toBe(404)
  })
})

test('a browser that asks for the zip of a locked folder gets a page that says so', async () => {
  const folder = await makeFolder(host, key, { password: 'sesame' })
  const headers = { accept: 'text/html,*/*;q=0.8' }
  const answer = await visit(host, `/f/${folder}?download=zip`, { headers })
  expect(answer.status).toBe(403)
  expect(answer.headers.get('content-type')).toStartWith('text/html')
})

test('a signed address of private and locked files is its owner’s, whoever has it', async () => {
  const hidden = await makeFolder(host, key, { public: 0 })
  const locked = await makeFolder(host, key, { password: 'sesame' })
  const files = [
    await upload(host, { key, folder: hidden, name: '1.txt' }),
    await upload(host, { key, folder: locked, name: '2.txt' }),
  ]
  const answer = await api(host, key, 'POST', '/api/v1/files/download', {
    files: files.map(({ slug }) => slug),
  })
  const { url } = z.object({ data: z.object({ url: z.string() }) }).parse(answer.body).data
  expect(await names(url)).toEqual(['1.txt', '2.txt'])
})
