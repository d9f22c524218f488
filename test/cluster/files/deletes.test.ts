import { describe, expect, test } from 'bun:test'
import { type Api, api, multipart, newcomer, refusal } from '../../support/clients/api.ts'
import { addCopies } from '../../support/contents/file-copies.ts'
import { hostOfFile } from '../../support/servers/owned-host.ts'

const holdfast = await hostOfFile()

async function expectCounts(caller: Api, counts: object) {
  expect((await caller.get('/api/v1/account')).body).toMatchObject({ data: counts })
}

describe.each(['/file/delete', '/api/v1/file/delete'])('POST %s', (path) => {
  test('deletes files by slug, UUID, number as text and number', async () => {
    const caller = await newcomer(holdfast)
    const files = [await caller.put('1'), await caller.put('2'), await caller.put('3'), await caller.put('4')]
    await caller.put('kept')
    const [a, b, c, d] = files
    const identifiers = [a?.slug, b?.uuid, String(c?.file_id), d?.file_id]
    const answer = await caller.post(path, { identifiers })
    expect(answer.status).toBe(200)
    expect(answer.body).toEqual({
      success: true,
      message: expect.stringMatching(/./),
      total_processed: 4,
      successful_deletes: 4,
      failed_deletes: 0,
      files_deleted: 4,
    })
    for (const file of files) {
      expect(await caller.get(`/api/v1/file/${file.slug}`)).toMatchObject(refusal('FILE_NOT_FOUND'))
      expect((await fetch(file.url)).status).toBe(404)
    }
    await expectCounts(caller, { files_count: 1, storage_used: 4 })
    expect((await caller.get('/api/v1/files')).body).toMatchObject({ pagination: { total: 1 } })
  })

  test('counts unknown, foreign and already deleted files as failed, and deletes the rest', async () => {
    const caller = await newcomer(holdfast)
    const other = await newcomer(holdfast)
    const foreign = await other.put('x')
    const guest = await api(holdfast).put('x')
    const [gone, mine] = [await caller.put('1'), await caller.put('2')]
    await caller.post(path, { identifiers: [gone.slug] })
    const identifiers = [
      'Abcdefghijkl',
      foreign.slug,
      foreign.uuid,
      foreign.file_id,
      guest.slug,
      gone.slug,
      mine.slug,
    ]
    const answer = await caller.post(path, { identifiers })
    expect(answer.status).toBe(200)
    expect(answer.body).toMatchObject({
      success: false,
      total_processed: 7,
      successful_deletes: 1,
      failed_deletes: 6,
      files_deleted: 1,
    })
    await expectCounts(caller, { files_count: 0, storage_used: 0 })
    await expectCounts(other, { files_count: 1 })
  })

  test('takes each identifier once', async () => {
    const caller = await newcomer(holdfast)
    const { slug } = await caller.put('1')
    const { body } = await caller.post(path, {
      identifiers: [slug, slug, 'Abcdefghijkl', slug, 'Abcdefghijkl'],
    })
    expect(body).toMatchObject({
      success: false,
      total_processed: 2,
      successful_deletes: 1,
      failed_deletes: 1,
      files_deleted: 1,
    })
  })

  test('deletes a file named in three ways once', async () => {
    const caller = await newcomer(holdfast)
    const file = await caller.put('1')
    await caller.put('kept')
    const { body } = await caller.post(path, { identifiers: [file.slug, file.uuid, file.file_id] })
    expect(body).toMatchObject({ success: true, total_processed: 1, successful_deletes: 1, files_deleted: 1 })
    await expectCounts(caller, { files_count: 1, storage_used: 4 })
  })

  test('leaves other files of the same content alone', async () => {
    const caller = await newcomer(holdfast)
    const [first, second] = [await caller.put('twin'), await caller.put('twin')]
    await caller.post(path, { identifiers: [first.slug] })
    await holdfast.runJobs()
    const download = await fetch(`${second.url}?download=1`)
    expect(await download.text()).toBe('twin')
  })

  test('counts a file down in its folder', async () => {
    const caller = await newcomer(holdfast)
    const folder = await caller.folder('box')
    const { slug } = await caller.put('x', { folder })
    await caller.post(path, { identifiers: [slug] })
    expect((await caller.get('/api/v1/folders')).body).toMatchObject({ data: [{ file_count: 0 }] })
    expect((await caller.get(`/api/v1/folder/${folder}/files`)).body).toMatchObject({ data: [] })
  })
})

describe.each(['/folder/delete', '/api/v1/folder/delete'])('POST %s', (path) => {
  test('deletes the folders, all below them and all files inside', async () => {
    const caller = await newcomer(holdfast)
    const outer = await caller.folder('outer')
    const inner = await caller.folder('inner', { parent: outer })
    const other = await caller.folder('other')
    const files = [
      await caller.put('1', { folder: outer }),
      await caller.put('2', { folder: inner }),
      await caller.put('3', { folder: inner }),
      await caller.put('4', { folder: other }),
    ]
    await caller.folder('kept')
    await caller.put('kept')
    const answer = await caller.post(path, { identifiers: [outer, other] })
    expect(answer.status).toBe(200)
    expect(answer.body).toEqual({
      success: true,
      message: expect.stringMatching(/./),
      total_processed: 2,
      successful_deletes: 2,
      failed_deletes: 0,
      files_deleted: 4,
    })
    for (const file of files) {
      expect(await caller.get(`/api/v1/file/${file.slug}`)).toMatchObject(refusal('FILE_NOT_FOUND'))
      expect((await fetch(file.url)).status).toBe(404)
    }
    for (const folder of [outer, inner, other]) {
      expect(await caller.get(`/api/v1/folder/${folder}/files`)).toMatchObject(refusal('FOLDER_NOT_FOUND'))
    }
    await expectCounts(caller, { files_count: 1, folders_count: 1, storage_used: 4 })
    expect((await caller.get('/api/v1/folders')).body).toMatchObject({ data: [{ name: 'kept' }] })
    await holdfast.runJobs()
    await expectCounts(caller, { files_count: 1, folders_count: 1, storage_used: 4 })
  })

  test('deletes a wide and deep tree at once for everybody', async () => {
    const caller = await newcomer(holdfast)
    const tree = [await caller.folder('big')]
    for (let index = 0; index < 40; index += 1) {
      tree.push(await caller.folder(`folder ${index}`, { parent: tree[Math.floor(index / 2)] }))
    }
    const files = await Promise.all(tree.map((folder) => caller.put('x', { folder })))
    for (const { file_id } of files) await addCopies(holdfast.database, file_id, 9)
    const { body } = await caller.post(path, { identifiers: [tree[0]] })
    expect(body).toMatchObject({ success: true, total_processed: 1, files_deleted: 410 })
    await expectCounts(caller, { files_count: 0, folders_count: 0, storage_used: 0 })
    expect((await caller.get('/api/v1/files')).body).toMatchObject({ data: [], pagination: { total: 0 } })
    expect((await caller.get('/api/v1/folders')).body).toMatchObject({ data: [] })
    for (const file of files) {
      expect(await caller.get(`/api/v1/file/${file.slug}`)).toMatchObject(refusal('FILE_NOT_FOUND'))
      expect((await fetch(file.url)).status).toBe(404)
    }
    for (const folder of tree) {
      expect(await caller.upload('x', { folder })).toMatchObject(refusal('FOLDER_NOT_FOUND'))
    }
  })

  test('counts unknown and foreign folders as failed, and deletes the rest', async () => {
    const caller = await newcomer(holdfast)
    const other = await newcomer(holdfast)
    const foreign = await other.folder('foreign')
    await other.put('x', { folder: foreign })
    const [gone, mine] = [await caller.folder('gone'), await caller.folder('mine')]
    await caller.post(path, { identifiers: [gone] })
    await caller.put('x', { folder: mine })
    const answer = await caller.post(path, { identifiers: [foreign, mine, 'a'.repeat(16), gone] })
    expect(answer.status).toBe(200)
    expect(answer.body).toMatchObject({
      success: false,
      total_processed: 4,
      successful_deletes: 1,
      failed_deletes: 3,
      files_deleted: 1,
    })
    await expectCounts(other, { files_count: 1, folders_count: 1 })
  })

  test('takes each identifier once', async () => {
    const caller = await newcomer(holdfast)
    const folder = await caller.folder('mine')
    const { body } = await caller.post(path, { identifiers: [folder, folder] })
    expect(body).toMatchObject({
      success: true,
      total_processed: 1,
      successful_deletes: 1,
      failed_deletes: 0,
    })
  })

  test('deletes a child and then its parent, and counts each file once', async () => {
    const caller = await newcomer(holdfast)
    const outer = await caller.folder('outer')
    const inner = await caller.folder('inner', { parent: outer })
    await caller.put('1', { folder: outer })
    await caller.put('2', { folder: inner })
    const { body } = await caller.post(path, { identifiers: [inner, outer] })
    expect(body).toMatchObject({ success: true, successful_deletes: 2, files_deleted: 2 })
    await expectCounts(caller, { files_count: 0, folders_count: 0, storage_used: 0 })
  })

  test.each(['root', ''])('never takes the top level, named "%s", for a folder', async (identifier) => {
    const caller = await newcomer(holdfast)
    await caller.folder('kept')
    await caller.put('kept')
    expect((await caller.post(path, { identifiers: [identifier] })).body).toMatchObject({ success: false })
    await expectCounts(caller, { files_count: 1, folders_count: 1 })
  })

  test('sets the name free at once', async () => {
    const caller = await newcomer(holdfast)
    const first = await caller.folder('again')
    await caller.post(path, { identifiers: [first] })
    expect(await caller.folder('again')).not.toBe(first)
  })
})

describe.each(['/file/delete', '/api/v1/file/delete', '/folder/delete', '/api/v1/folder/delete'])(
  'POST %s with a wrong body',
  (path) => {
    test.each([
      {},
      { identifiers: [] },
      { identifiers: null },
      { identifiers: 'x' },
      { identifiers: [null] },
      { identifiers: [{}] },
      { identifiers: { 0: 'x' } },
    ])('%j is refused, and the message names the field', async (body) => {
      const answer = await (await newcomer(holdfast)).post(path, body)
      expect(answer).toMatchObject(refusal('INVALID_REQUEST'))
      expect(answer.body).toMatchObject({ message: expect.stringContaining('identifiers') })
    })
  },
)

describe('more than one step takes', () => {
  test('files are all deleted, whichever of them are there', async () => {
    const caller = await newcomer(holdfast)
    const { slug, file_id } = await caller.put('x')
    const copies = await addCopies(holdfast.database, file_id, 150)
    const identifiers = [...copies, 0, ...copies.map(String), slug, 'Abcdefghijkl']
    const { body } = await caller.post('/file/delete', { identifiers })
    expect(body).toMatchObject({
      success: false,
      total_processed: 153,
      failed_deletes: 2,
      files_deleted: 151,
    })
    await expectCounts(caller, { files_count: 0, storage_used: 0 })
  })

  test('folders go with the one that they lie in, and each file counts once', async () => {
    const caller = await newcomer(holdfast)
    const outer = await caller.folder('outer')
    const named = Array.from({ length: 105 }, (_, at) => caller.folder(`${at}`, { parent: outer }))
    const inner = await Promise.all(named)
    for (const folder of [outer, inner[0], inner.at(-1)]) await caller.put('x', { folder })
    const { body } = await caller.post('/folder/delete', { identifiers: [...inner, outer] })
    expect(body).toMatchObject({
      success: true,
      total_processed: 106,
      successful_deletes: 106,
      files_deleted: 3,
    })
    await expectCounts(caller, { files_count: 0, folders_count: 0, storage_used: 0 })
  })
})

describe('at once', () => {
  test('deletes of one file: one of them deletes it', async () => {
    const caller = await newcomer(holdfast)
    const { slug } = await caller.put('x')
    const deletes = Array.from({ length: 8 }, () => caller.post('/file/delete', { identifiers: [slug] }))
    const answers = await Promise.all(deletes)
    expect(answers.filter(({ body }) => Bun.deepMatch({ files_deleted: 1 }, body))).toHaveLength(1)
    await expectCounts(caller, { files_count: 0, storage_used: 0 })
  })

  test('a folder deleted while a file is on its way into it: the file is refused and nothing stays', async () => {
    const caller = await newcomer(holdfast)
    const folder = await caller.folder('target')
    const content = 'x'.repeat(300_000)
    const { type, body } = multipart([{ disposition: 'name="file"; filename="late"', content }])
    const deleted = Promise.withResolvers<void>()
    const underway = Promise.withResolvers<void>()
    let pulls = 0
    const halves = new ReadableStream<Uint8Array>({
      async pull(controller) {
        pulls += 1
        if (pulls === 1) return controller.enqueue(body.slice(0, 150_000))
        underway.resolve()
        await deleted.promise
        controller.enqueue(body.slice(150_000))
        controller.close()
      },
    })
    const headers = { 'content-type': type, 'x-folder-id': folder }
    const upload = caller.send('/api/v1/upload', { method: 'POST', body: halves, headers })
    await underway.promise
    await caller.post('/folder/delete', { identifiers: [folder] })
    deleted.resolve()
    expect(await upload).toMatchObject(refusal('FOLDER_NOT_FOUND'))
    await expectCounts(caller, { files_count: 0, folders_count: 0, storage_used: 0 })
  })

  test('a folder deleted as a file lands in it: the file is refused or goes with the folder', async () => {
    const caller = await newcomer(holdfast)
    for (let round = 0; round < 15; round += 1) {
      const folder = await caller.folder('target')
      const upload = caller.upload('x'.repeat(1000), { folder })
      await Bun.sleep(round % 5)
      const removal = await caller.post('/folder/delete', { identifiers: [folder] })
      const landed = await upload
      expect(removal.body).toMatchObject({ success: true, files_deleted: landed.status === 200 ? 1 : 0 })
      if (landed.status !== 200) expect(landed).toMatchObject(refusal('FOLDER_NOT_FOUND'))
      await expectCounts(caller, { files_count: 0, folders_count: 0, storage_used: 0 })
      expect((await caller.get('/api/v1/files')).body).toMatchObject({ data: [], pagination: { total: 0 } })
    }
  })

  test('a folder deleted as a file is moved into it: the file goes too or stays where it was', async () => {
    const caller = await newcomer(holdfast)
    for (let round = 0; round < 10; round += 1) {
      const target = await caller.folder('target')
      const { slug } = await caller.put('x')
      const [move, removal] = await Promise.all([
        caller.post('/api/v1/file/move', { file: slug, folder: target }),
        caller.post('/folder/delete', { identifiers: [target] }),
      ])
      const along = move.status === 200
      expect(removal.body).toMatchObject({ success: true, files_deleted: along ? 1 : 0 })
      await expectCounts(caller, { files_count: along ? 0 : 1, folders_count: 0 })
      await caller.post('/file/delete', { identifiers: [slug] })
    }
  })

  test('a folder deleted as another is moved into it: the other goes too or stays where it was', async () => {
    const caller = await newcomer(holdfast)
    for (let round = 0; round < 10; round += 1) {
      const target = await caller.folder('target')
      const moved = await caller.folder('moved')
      await caller.put('x', { folder: moved })
      const [move, removal] = await Promise.all([
        caller.post('/api/v1/folder/move', { folder: moved, parent: target }),
        caller.post('/folder/delete', { identifiers: [target] }),
      ])
      const along = move.status === 200
      expect(removal.body).toMatchObject({ success: true, files_deleted: along ? 1 : 0 })
      await expectCounts(caller, { files_count: along ? 0 : 1, folders_count: along ? 0 : 1 })
      await caller.post('/folder/delete', { identifiers: [moved] })
    }
  })
})
