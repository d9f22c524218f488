import { describe, expect, test } from 'bun:test'
import { z } from 'zod'
import { detail, stored } from '../../support/clients/answers.ts'
import { newcomer } from '../../support/clients/api.ts'
import { PNG } from '../../support/contents/picture.ts'
import { hostOfFile } from '../../support/servers/owned-host.ts'

const holdfast = await hostOfFile()

/** The name under which a file uploaded with this Content-Disposition is kept. */
async function nameFor(disposition: string): Promise<string> {
  const caller = await newcomer(holdfast)
  const answer = await caller.uploadParts([{ disposition: `name="file"; ${disposition}`, content: 'x' }])
  expect(answer).toMatchObject({ status: 200, body: { success: true } })
  return (await detail(caller, z.object({ slug: z.string() }).parse(answer.body).slug)).name
}

const AGENTS = { aiohttp: 'Python/3.11 aiohttp/3.9.1', Needle: 'Needle/3.3.1 (Node.js v20.1; linux x64)' }

/** The type of a file with this name, declared type and content. */
async function typeFor(name: string, type?: string, content: string | Uint8Array = 'just some words') {
  const caller = await newcomer(holdfast)
  const { slug } = await caller.put(content, type === undefined ? { name } : { name, type })
  return (await detail(caller, slug)).type
}

describe('the name of an upload', () => {
  test.each(Object.entries(AGENTS))('is decoded from the percent escapes of %s', async (_, agent) => {
    const caller = await newcomer(holdfast)
    const { slug } = await caller.put('x', { name: 'na%C3%AFve%20a.txt', headers: { 'user-agent': agent } })
    expect((await detail(caller, slug)).name).toBe('naïve a.txt')
    const plain = await caller.put('x', { name: 'na%C3%AFve.txt', headers: { 'user-agent': 'curl/8.5' } })
    expect((await detail(caller, plain.slug)).name).toBe('na%C3%AFve.txt')
  })

  test.each([
    ['as UTF-8', 'caf%C3%A9.txt', 'café.txt'],
    ['as Windows-1252 where it is not UTF-8', 'caf%E9%20%80.txt', 'café €.txt'],
    ['with the escapes that are none', '100%zz%.txt', '100%zz%.txt'],
    ['from encoded words', '%3D%3Futf-8%3FB%3FYS9iLnR4dA%3D%3D%3F%3D', 'b.txt'],
    ['with its backslash', 'a%5Cb.txt', 'a\\b.txt'],
    ['without a Windows folder', 'C%3A%5Ca%5Cb.txt', 'b.txt'],
    ['from the content where it is a hyphen', '-', 'text.txt'],
  ])('in the path of a PUT is read %s', async (_, path, name) => {
    const caller = await newcomer(holdfast)
    const answer = await caller.send(`/api/v1/upload/${path}`, {
      method: 'PUT',
      body: 'plain text',
      headers: { accept: 'application/json' },
    })
    expect(answer.status).toBe(200)
    expect((await detail(caller, z.object({ slug: z.string() }).parse(answer.body).slug)).name).toBe(name)
  })

  test.each([
    ['as Windows-1252 where it is not UTF-8', Buffer.from('caf\xe9.txt', 'latin1'), 'café.txt'],
    ['from encoded words', Buffer.from('=?utf-8?Q?na=C3=AFve.txt?='), 'naïve.txt'],
    ['without spaces around it', Buffer.from(' a b.txt '), 'a b.txt'],
  ])('in the metadata of a resumable upload is read %s', async (_, filename, name) => {
    const caller = await newcomer(holdfast)
    const answer = await caller.send('/api/v1/uploads', {
      method: 'POST',
      headers: {
        'tus-resumable': '1.0.0',
        'upload-length': '0',
        'upload-metadata': `filename ${filename.toString('base64')}`,
      },
    })
    expect(answer.status).toBe(201)
    expect((await detail(caller, z.object({ slug: z.string() }).parse(answer.body).slug)).name).toBe(name)
  })

  test.each([
    ['is read as raw UTF-8', 'filename="отчёт 報告 دليل.txt"', 'отчёт 報告 دليل.txt'],
    ['is read from filename*', "filename*=UTF-8''na%C3%AFve%20%E2%82%AC.txt", 'naïve €.txt'],
    [
      'is read from filename* before filename',
      `filename="plain.txt"; filename*=UTF-8''%E5%AF%8C.txt`,
      '富.txt',
    ],
    ['is read from filename* in ISO-8859-1 too', "filename*=ISO-8859-1''%A3.txt", '£.txt'],
    ['may stand without quotes', 'filename=plain.txt', 'plain.txt'],
    ['may hold a semicolon in quotes', 'filename="a;b=c.txt"', 'a;b=c.txt'],
    ['loses its folders', 'filename="../../etc/passwd.txt"', 'passwd.txt'],
    ['is decoded from encoded words', 'filename="=?UTF-8?B?w6TDtsO8LnR4dA==?="', 'äöü.txt'],
    ['loses spaces around it', 'filename="  a b.txt  "', 'a b.txt'],
    ['keeps a backslash that separates nothing', 'filename="what\\ever.txt"', 'what\\ever.txt'],
    ['loses the folders of a share', 'filename="\\\\\\\\server\\\\share\\\\film.mkv"', 'film.mkv'],
    ['is unnamed when it is a hyphen', 'filename="-"', 'unnamed'],
    ["loses another system's folders", "filename*=UTF-8''C%3A%5CUsers%5Cme%5Cfilm.mkv", 'film.mkv'],
    ['is composed', "filename*=UTF-8''e%CC%81.txt", 'é.txt'],
    ['loses control characters', "filename*=UTF-8''a%00b%07c%0D%0Ad%7F%C2%85.txt", 'abcd.txt'],
    ['loses bidirectional characters', "filename*=UTF-8''photo%E2%80%AEgpj.exe", 'photogpj.exe'],
    [
      'loses every kind of bidirectional character',
      `filename*=UTF-8''${encodeURIComponent(
        'a\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069.txt',
      )}`,
      'a.txt',
    ],
    ['keeps joiners that emoji are made of', 'filename="👩‍👩‍👧.png"', '👩‍👩‍👧.png'],
    ['is unnamed when nothing is left', "filename*=UTF-8''%01%02%E2%80%AE", 'unnamed'],
    ['is unnamed when only a folder is given', 'filename="folder/"', 'unnamed'],
    ['may look like an object property', 'filename="__proto__"', '__proto__'],
  ])('%s', async (_, disposition, name) => {
    expect(await nameFor(disposition)).toBe(name)
  })

  test('of 255 bytes stays as it is', async () => {
    const name = `${'x'.repeat(251)}.txt`
    expect(await nameFor(`filename="${name}"`)).toBe(name)
  })

  test('of more than 255 bytes is cut between characters, and keeps its extension', async () => {
    expect(await nameFor(`filename="${'x'.repeat(300)}.txt"`)).toBe(`${'x'.repeat(251)}.txt`)
    expect(await nameFor(`filename="${'é'.repeat(200)}.txt"`)).toBe(`${'é'.repeat(125)}.txt`)
    expect(await nameFor(`filename="${'😀'.repeat(100)}.jpeg"`)).toBe(`${'😀'.repeat(62)}.jpeg`)
    expect(await nameFor(`filename="${'漢'.repeat(255)}"`)).toBe('漢'.repeat(85))
  })

  test('with an extension too long to keep still has at most 255 bytes', async () => {
    const name = await nameFor(`filename="a.${'x'.repeat(400)}"`)
    expect(Buffer.byteLength(name)).toBeLessThanOrEqual(255)
    expect(name).toStartWith('a.x')
  })

  test('need not be unique', async () => {
    const caller = await newcomer(holdfast)
    const folder = await caller.folder('twins')
    await caller.put('one', { name: 'twin.txt', folder })
    await caller.put('two', { name: 'twin.txt', folder })
    expect((await stored(caller)).files_count).toBe(2)
  })
})

describe('the type of an upload', () => {
  test('comes from the extension of the name first', async () => {
    expect(await typeFor('notes.txt', 'image/png', PNG)).toBe('text/plain')
    expect(await typeFor('PHOTO.JPG', 'application/octet-stream')).toBe('image/jpeg')
    expect(await typeFor('archive.tar.gz')).toBe('application/gzip')
  })

  test('comes from the declared type when the extension is unknown', async () => {
    expect(await typeFor('data.unknownextension', 'application/x-holdfast', PNG)).toBe(
      'application/x-holdfast',
    )
    expect(await typeFor('README', 'text/markdown')).toBe('text/markdown')
  })

  test('comes from the first bytes when the declared type says nothing', async () => {
    expect(await typeFor('picture', 'application/octet-stream', PNG)).toBe('image/png')
    expect(await typeFor('picture.unknownextension', undefined, PNG)).toBe('image/png')
  })

  test('is application/octet-stream when nothing tells it', async () => {
    expect(await typeFor('mystery')).toBe('application/octet-stream')
    expect(await typeFor('mystery', 'application/octet-stream')).toBe('application/octet-stream')
    expect(await typeFor('mystery', undefined, '')).toBe('application/octet-stream')
  })

  test('is never a declared text that is not a type', async () => {
    expect(await typeFor('mystery', 'not a type <script>')).toBe('application/octet-stream')
  })
})
