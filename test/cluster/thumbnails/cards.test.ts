/** Previews of pages in chats. */
import { expect, test } from 'bun:test'
import sharp from 'sharp'
import { type Api, api, newcomer } from '../../support/clients/api.ts'
import { linkedFile, makeLink } from '../../support/clients/links.ts'
import { changeFolder, elements, GENEROUS, visit } from '../../support/clients/public.ts'
import { picture } from '../../support/contents/pictures.ts'
import { eventually } from '../../support/eventually.ts'
import { hostOfFile } from '../../support/servers/owned-host.ts'

const host = await hostOfFile({ ...GENEROUS, thumbnails: true })

async function account(): Promise<{ readonly by: Api; readonly key: string }> {
  const { apiKey } = await host.addAccount()
  return { by: api(host, apiKey), key: apiKey }
}

/** Path of the `og:image` of a page. */
async function imageOf(path: string): Promise<string> {
  const html = await (await visit(host, path)).text()
  const [image] = elements(html, 'meta[property="og:image"]')
  return new URL(image?.attributes.content ?? '').pathname
}

async function cardAt(path: string): Promise<Uint8Array> {
  const answer = await visit(host, path)
  expect([path, answer.status, answer.headers.get('content-type')]).toEqual([path, 200, 'image/jpeg'])
  const bytes = await answer.bytes()
  expect(await sharp(bytes).metadata()).toMatchObject({ format: 'jpeg', width: 1200, height: 630 })
  return bytes
}

async function colourAt(card: Uint8Array, left: number, top: number): Promise<string> {
  const { data } = await sharp(card)
    .extract({ left, top, width: 4, height: 4 })
    .raw()
    .toBuffer({ resolveWithObject: true })
  const [red = 0, , blue = 0] = data
  return red > 200 && blue < 60 ? 'red' : blue > 200 && red < 60 ? 'blue' : 'neither'
}

async function putPictures(by: Api, names: readonly string[], headers: Record<string, string> = {}) {
  const files = []
  for (const [index, name] of names.entries()) {
    files.push(await by.put(await picture('png', 800 + index, 400), { name, headers }))
  }
  for (const { uuid } of files) {
    await eventually('the thumbnail is made', async () => {
      const answer = await visit(host, `/t/${uuid}`)
      await answer.bytes()
      return answer.headers.get('content-type') === 'image/webp'
    })
  }
  return files
}

test('of a picture is all of it; of a folder and a link a mosaic; of a text nothing of it', async () => {
  const { by, key } = await account()
  const folder = await by.folder('Photos')
  const [file, ...others] = await putPictures(by, ['a.png', 'b.png', 'c.png'], { 'x-folder-id': folder })
  if (file === undefined) throw new Error('there is no file')
  const whole = await cardAt(await imageOf(`/d/${file.slug}`))
  expect([await colourAt(whole, 300, 300), await colourAt(whole, 900, 300)]).toEqual(['red', 'blue'])
  const mosaic = await cardAt(await imageOf(`/f/${folder}`))
  expect([await colourAt(mosaic, 620, 10), await colourAt(mosaic, 1190, 10)]).toEqual(['red', 'blue'])
  const link = await makeLink(host, key, { files: [file, ...others].map(({ uuid }) => uuid) })
  expect(await imageOf(`/l/${link}`)).toBe(`/l/${link}/all/card.jpg`)
  await cardAt(`/l/${link}/all/card.jpg`)
  await cardAt(await imageOf(await linkedFile(host, link, file)))
  const text = await by.put('words', { name: 'a.txt' })
  expect(await imageOf(`/d/${text.slug}`)).toBe('/card.jpg')
  await cardAt('/card.jpg')
  expect((await visit(host, `/d/${text.slug}/card.jpg`)).status).toBe(302)
})

test('of what is counted, locked or private shows nothing of it', async () => {
  const { by, key } = await account()
  const folder = await by.folder('Photos')
  const [file] = await putPictures(by, ['a.png'], { 'x-folder-id': folder })
  if (file === undefined) throw new Error('there is no file')
  const counted = await makeLink(host, key, { files: [file.uuid], max_downloads: 2 })
  expect(await imageOf(`/l/${counted}`)).toBe('/card.jpg')
  expect((await visit(host, `/l/${counted}/all/card.jpg`)).headers.get('location')).toEndWith('/card.jpg')
  expect((await visit(host, `${await linkedFile(host, counted, file)}/card.jpg`)).status).toBe(302)
  const locked = await makeLink(host, key, { files: [file.uuid], password: 'sesame' })
  expect(await imageOf(`/l/${locked}`)).toBe('/card.jpg')
  expect((await visit(host, `/l/${locked}/all/card.jpg`)).status).toBe(403)
  await changeFolder(host, key, folder, { password: 'sesame' })
  expect(await imageOf(`/d/${file.slug}`)).toBe('/card.jpg')
  expect((await visit(host, `/d/${file.slug}/card.jpg`)).status).toBe(403)
  expect((await visit(host, `/f/${folder}/card.jpg`)).status).toBe(403)
  await changeFolder(host, key, folder, { password: null, public: 0 })
  for (const page of [`/d/${file.slug}`, `/f/${folder}`]) {
    expect((await visit(host, `${page}/card.jpg`)).status).toBe(404)
  }
})

test('oEmbed answers for the page of a file alone', async () => {
  const by = await newcomer(host)
  const [file] = await putPictures(by, ['a.png'])
  const ask = async (url: string) =>
    (
      await visit(host, `/oembed?url=${encodeURIComponent(url)}`, { headers: { accept: 'application/json' } })
    ).json()
  expect(await ask(file?.url ?? '')).toMatchObject({
    version: '1.0',
    type: 'photo',
    title: 'a.png',
    url: `${file?.url}/card.jpg`,
    width: 1200,
    height: 630,
  })
  for (const url of [
    'https://elsewhere.example/d/Kx3RmP7vTq2a',
    `${host.url}/f/abcdefghijklmnop`,
    host.url,
  ]) {
    expect(await ask(url)).toMatchObject({ error: 'FILE_NOT_FOUND' })
  }
})

test('is made once for a hundred who ask at the same time, also where some of them leave', async () => {
  const { by } = await account()
  const [file] = await putPictures(by, ['asked-for.png'])
  const path = `/d/${file?.slug}/card.jpg`
  const leaving = new AbortController()
  const left = visit(host, path, { signal: leaving.signal }).catch(() => null)
  const asking = Array.from({ length: 100 }, () => visit(host, path))
  leaving.abort()
  const statuses = await Promise.all(asking.map(async (answer) => (await answer).status))
  await left
  expect(new Set(statuses)).toEqual(new Set([200]))
})
