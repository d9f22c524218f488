import { expect, test } from 'bun:test'
import { z } from 'zod'
import { MINUTE } from '../../../../src/domain/clock.ts'
import {
  api,
  type Bytes,
  deleteFile,
  GENEROUS,
  makeFolder,
  randomBytes,
  upload,
  visit,
} from '../../../support/clients/public.ts'
import { unpacked, zipPrograms } from '../../../support/clients/zip-programs.ts'
import { addCopies } from '../../../support/contents/file-copies.ts'
import { temporaryFolder } from '../../../support/processes/child.ts'
import { describeWith } from '../../../support/processes/tools.ts'
import { startHoldfast } from '../../../support/servers/holdfast.ts'
import { ownedHost } from '../../../support/servers/owned-host.ts'

const { host, key } = await ownedHost()
const signed = z.object({ data: z.object({ url: z.url(), expires_in: z.literal(1800) }) })

async function sign(files: readonly (string | number)[], on = host, owner = key): Promise<string> {
  const answer = await api(on, owner, 'POST', '/api/v1/files/download', { files })
  expect(answer.status).toBe(200)
  return signed.parse(answer.body).data.url
}

async function unzipped(bytes: Uint8Array): Promise<Record<string, string>> {
  using folder = temporaryFolder()
  await Bun.write(`${folder.path}/it.zip`, bytes)
  const [program] = zipPrograms
  if (program === undefined) throw new Error('there is no program')
  return await unpacked(program, `${folder.path}/it.zip`, `${folder.path}/it`)
}

describeWith(['unzip'], 'a selection of files and folders', () => {
  test('is one zip at a signed address, whatever the files are called by', async () => {
    const folder = await makeFolder(host, key, { public: 0 })
    const bytes = [randomBytes(10), randomBytes(20), randomBytes(30)] as const
    const one = await upload(host, { key, name: 'a.txt', bytes: bytes[0] })
    const two = await upload(host, { key, name: 'a.txt', bytes: bytes[1], folder })
    const three = await upload(host, { key, name: 'b.txt', bytes: bytes[2] })
    const url = await sign([one.slug, two.uuid, three.file_id, one.slug, one.file_id])
    expect(url).toStartWith(`${host.url}/z/`)
    const answer = await visit(host, url)
    expect(answer.status).toBe(200)
    expect(answer.headers.get('content-disposition')).toBe('attachment; filename="files.zip"')
    const whole = await answer.bytes()
    const hex = (content: Bytes) => Buffer.from(content).toString('hex')
    expect(await unzipped(whole)).toEqual({
      'a.txt': hex(bytes[0]),
      'a (2).txt': hex(bytes[1]),
      'b.txt': hex(bytes[2]),
    })
    const part = await visit(host, url, { headers: { range: 'bytes=20-90' } })
    expect(part.status).toBe(206)
    expect(await part.bytes()).toEqual(whole.slice(20, 91))
  })

  test('may have folders in it, each with everything below, as long as they are there', async () => {
    const outer = await makeFolder(host, key, { name: 'a.txt' })
    const inner = await makeFolder(host, key, { name: 'inner', parent: outer, public: 0, password: 'sesame' })
    const empty = await makeFolder(host, key, { name: 'empty' })
    const bytes = [randomBytes(10), randomBytes(20), randomBytes(30)] as const
    const beside = await upload(host, { key, name: 'a.txt', bytes: bytes[0] })
    await upload(host, { key, name: 'b.txt', bytes: bytes[1], folder: outer })
    await upload(host, { key, name: 'b.txt', bytes: bytes[2], folder: inner })
    const chosen = { files: [beside.slug], folders: [outer, inner, empty, outer] }
    const answer = await api(host, key, 'POST', '/api/v1/files/download', chosen)
    const { url } = signed.parse(answer.body).data
    const hex = (content: Bytes) => Buffer.from(content).toString('hex')
    expect(await unzipped(await (await visit(host, url)).bytes())).toEqual({
      'a.txt/': '',
      'a.txt/b.txt': hex(bytes[1]),
      'a.txt/inner/': '',
      'a.txt/inner/b.txt': hex(bytes[2]),
      'empty/': '',
      'a (2).txt': hex(bytes[0]),
    })

    const { apiKey: stranger } = await host.addAccount()
    expect(await api(host, stranger, 'POST', '/api/v1/files/download', { folders: [empty] })).toMatchObject({
      status: 404,
      body: { error: 'FOLDER_NOT_FOUND' },
    })
    const remove = { identifiers: [empty] }
    expect((await api(host, key, 'POST', '/folder/delete', remove)).status).toBe(200)
    expect((await visit(host, url)).status).toBe(404)
  })

  test('of 200 files has an address that still works', async () => {
    const { file_id } = await upload(host, { key, name: 'a.txt' })
    const others = await addCopies(host.database, file_id, 199)
    const answer = await visit(host, await sign([file_id, ...others]))
    expect(answer.status).toBe(200)
    expect(Object.keys(await unzipped(await answer.bytes()))).toHaveLength(200)
  })

  test('is refused when it is empty, too long or not of files', async () => {
    const { slug } = await upload(host, { key })
    const wrong = [[], Array.from({ length: 201 }, () => slug), [null], 'all', undefined]
    for (const files of wrong) {
      const answer = await api(host, key, 'POST', '/api/v1/files/download', { files })
      expect(answer).toMatchObject({ status: 400, body: { error: 'INVALID_REQUEST' } })
    }
    const many = { files: Array.from({ length: 200 }, () => slug), folders: ['root'] }
    expect((await api(host, key, 'POST', '/api/v1/files/download', many)).status).toBe(400)
    const missing = await api(host, key, 'POST', '/api/v1/files/download', { files: [slug, 'Zz0000000000'] })
    expect(missing).toMatchObject({ status: 404, body: { error: 'FILE_NOT_FOUND' } })
  })

  test('is not found any more when one of the files has gone', async () => {
    const [kept, gone] = [await upload(host, { key }), await upload(host, { key })]
    const url = await sign([kept.slug, gone.slug])
    await deleteFile(host, key, gone.slug)
    expect((await visit(host, url)).status).toBe(404)
  })

  test('is not given at an address that was changed or is for something else', async () => {
    const file = await upload(host, { key })
    const url = await sign([file.slug])
    const [payload, signature] = (url.split('/z/')[1] ?? '').split('.')
    const other = Buffer.from(JSON.stringify({ a: 1, e: 9_999_999_999, f: [1] })).toString('base64url')
    for (const token of [`${other}.${signature}`, `${payload}.x`, payload, 'x', `${payload}.${signature}x`]) {
      const answer = await visit(host, `/z/${token}`)
      expect(answer.status).toBe(403)
      expect(await answer.json()).toMatchObject({ error: 'INVALID_TOKEN' })
    }
  })

  test('is given for half an hour', async () => {
    const own = await startHoldfast(GENEROUS)
    try {
      const owner = (await own.addAccount('owner')).apiKey
      const file = await upload(own, { key: owner })
      const url = await sign([file.slug], own, owner)
      own.clock.advance(29 * MINUTE)
      expect((await visit(own, url, { method: 'HEAD' })).status).toBe(200)
      own.clock.advance(2 * MINUTE)
      expect((await visit(own, url, { method: 'HEAD' })).status).toBe(403)
    } finally {
      await own.stop()
    }
  })
})
