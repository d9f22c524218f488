/** Archives of folders in which some contents are marked as damaged. */
import { afterAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import { z } from 'zod'
import { markDamaged, markVerified } from '../../../../src/core/damage.rows.ts'
import {
  api,
  detail,
  makeFolder,
  textBytes,
  type Uploaded,
  upload,
  visit,
} from '../../../support/clients/public.ts'
import { unpacked, zipPrograms } from '../../../support/clients/zip-programs.ts'
import { temporaryFolder } from '../../../support/processes/child.ts'
import { testWith } from '../../../support/processes/tools.ts'
import { ownedHost } from '../../../support/servers/owned-host.ts'
import { contentOf } from '../../../support/storage/stored-contents.ts'

const { host, key } = await ownedHost()
const scratch = temporaryFolder()
afterAll(() => scratch[Symbol.dispose]())

const WORDS =
  'The server has lost bytes of these files, so this archive does not have them.\nAsk whoever shared them to upload them again.\n\n'

async function put(folder: string, name: string): Promise<Uploaded> {
  return upload(host, { key, folder, name, bytes: textBytes(`${folder} ${name}`) })
}

async function damage({ slug }: Uploaded) {
  const copy = await contentOf(host, slug)
  expect(await markDamaged(host.database, copy, 'hash', 1)).toBe(true)
  return copy
}

/** Two damaged files, one of them in a folder below, and a file and a folder that have the note's first two names. */
async function makeTree() {
  const folder = await makeFolder(host, key, { name: crypto.randomUUID() })
  const below = await makeFolder(host, key, { name: 'below', parent: folder })
  await makeFolder(host, key, { name: 'damaged files (2).txt', parent: folder })
  await put(folder, 'Damaged Files.txt')
  await put(below, 'sound.txt')
  const copies = [await damage(await put(folder, 'lost.txt')), await damage(await put(below, 'lost too.txt'))]
  return { folder, below, copies, address: `/f/${folder}?download=zip` }
}

for (const program of zipPrograms) {
  testWith([program.tool], `a zip names what it leaves out, as ${program.name} unpacks it`, async () => {
    const { folder, below, address } = await makeTree()
    const zip = join(scratch.path, `${folder}.zip`)
    const answer = await visit(host, address)
    expect(answer.status).toBe(200)
    const bytes = await answer.bytes()
    expect(answer.headers.get('content-length')).toBe(String(bytes.length))
    await Bun.write(zip, bytes)
    const files = await unpacked(program, zip, join(scratch.path, folder))
    const hex = (text: string) => Buffer.from(text).toString('hex')
    expect(files).toEqual({
      'Damaged Files.txt': hex(`${folder} Damaged Files.txt`),
      'below/': '',
      'below/sound.txt': hex(`${below} sound.txt`),
      'damaged files (2).txt/': '',
      'damaged files (3).txt': hex(`${WORDS}lost.txt\nbelow/lost too.txt\n`),
    })
  })
}

test('a zip that leaves files out has ranges, and is another once they are sound', async () => {
  const { address, copies } = await makeTree()
  const answer = await visit(host, address)
  const etag = answer.headers.get('etag') ?? ''
  const whole = await answer.bytes()
  const head = await visit(host, address, { method: 'HEAD' })
  expect(head.headers.get('content-length')).toBe(String(whole.length))
  const note = Buffer.from(whole).indexOf('The server has lost')
  for (const [start, end] of [
    [0, 10],
    [note - 5, note + 5],
    [note + 3, note + 9],
    [note, whole.length - 1],
  ] as const) {
    const part = await visit(host, address, {
      headers: { range: `bytes=${start}-${end}`, 'if-range': etag },
    })
    expect(part.status).toBe(206)
    expect(await part.bytes()).toEqual(whole.subarray(start, end + 1))
  }
  await markVerified(host.database, copies, 2)
  const sound = await visit(host, address)
  expect(sound.headers.get('etag')).not.toBe(etag)
  expect(Buffer.from(await sound.bytes()).includes('The server has lost')).toBe(false)
})

test('a zip of a damaged file alone has the text, and the file counts as not downloaded', async () => {
  const folder = await makeFolder(host, key)
  const file = await put(folder, 'lost.txt')
  await damage(file)
  const asked = await api(host, key, 'POST', '/api/v1/files/download', { files: [file.slug] })
  const { data } = z.object({ data: z.object({ url: z.string() }) }).parse(asked.body)
  const text = Buffer.from(await (await visit(host, data.url)).bytes()).toString('latin1')
  expect(text).toContain(`${WORDS}lost.txt`)
  await host.settle()
  expect(await detail(host, key, file)).toMatchObject({ downloads: 0, views: 0 })
})
