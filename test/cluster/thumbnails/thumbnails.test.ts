import { describe, expect, test } from 'bun:test'
import {
  api,
  changeFolder,
  deleteFile,
  detail,
  makeFolder,
  textBytes,
  upload,
  visit,
} from '../../support/clients/public.ts'
import { PNG } from '../../support/contents/picture.ts'
import { atNode } from '../../support/servers/holdfast.ts'
import { ownedHost } from '../../support/servers/owned-host.ts'

const { host, key } = await ownedHost()

describe('the thumbnail address', () => {
  test.each([
    ['photo.png', PNG],
    ['broken.png', textBytes('not a picture')],
    ['notes.txt', textBytes('hello')],
    ['film.mp4', textBytes('film')],
    ['song.mp3', textBytes('song')],
    ['page.html', textBytes('<p>hello</p>')],
    ['drawing.svg', textBytes('<svg xmlns="http://www.w3.org/2000/svg"/>')],
    ['backup.zip', textBytes('zip')],
    ['unknown', textBytes('?')],
    ['empty.bin', new Uint8Array(0)],
  ])('of %s is an image', async (name, bytes) => {
    const file = await upload(host, { key, name, bytes })
    expect(file.thumbnail_url).toBe(`/t/${file.uuid}`)
    await host.runJobs()
    const response = await visit(host, file.thumbnail_url)
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toMatch(/^image\//)
    expect((await response.bytes()).length).toBeGreaterThan(0)
    expect(response.headers.get('cache-control')).toContain('private')
    expect(response.headers.get('x-content-type-options')).toBe('nosniff')
    expect((await detail(host, key, file)).has_thumbnail).toBeBoolean()
  })

  test('answers an icon of its type, not the picture’s neighbour’s', async () => {
    const film = await upload(host, { key, name: 'film.mp4' })
    const archive = await upload(host, { key, name: 'backup.zip' })
    const icon = async (path: string) => (await visit(host, path)).bytes()
    expect(await icon(film.thumbnail_url)).not.toEqual(await icon(archive.thumbnail_url))
  })

  test('never hands out an uploaded drawing as it is', async () => {
    const evil = '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'
    const file = await upload(host, { key, name: 'evil.svg', bytes: textBytes(evil) })
    await host.runJobs()
    expect(await (await visit(host, file.thumbnail_url)).text()).not.toContain('alert(1)')
  })

  test('answers HEAD without a body', async () => {
    const file = await upload(host, { key, name: 'notes.txt' })
    const response = await visit(host, file.thumbnail_url, { method: 'HEAD' })
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toMatch(/^image\//)
    expect(await response.text()).toBe('')
  })

  test('is 404 for a file that nobody has', async () => {
    for (const uuid of [crypto.randomUUID(), 'x', '%00', '1', 'AAAAAAAAAAAA']) {
      expect((await visit(atNode(host), `/t/${uuid}`)).status).toBe(404)
    }
  })

  test('follows what happens to the file', async () => {
    const folder = await makeFolder(host, key)
    const file = await upload(host, { key, folder, name: 'photo.png', bytes: PNG })
    await changeFolder(host, key, folder, { public: 0 })
    expect((await visit(host, file.thumbnail_url)).status).toBe(404)
    await changeFolder(host, key, folder, { public: 1, password: 'sesame' })
    expect((await visit(host, file.thumbnail_url)).status).toBe(403)
    await changeFolder(host, key, folder, { password: null })
    expect((await visit(host, file.thumbnail_url)).status).toBe(200)
    await deleteFile(host, key, file.slug)
    expect((await visit(host, file.thumbnail_url)).status).toBe(404)
  })

  test('is the one that the upload status names', async () => {
    const file = await upload(host, { key, name: 'photo.png', bytes: PNG })
    const status = await api(host, key, 'GET', `/api/v1/upload/status?slug=${file.slug}`)
    expect(status.body).toMatchObject({ thumbnail_url: `/t/${file.uuid}` })
  })
})
