/** Forms that are not one whole file in the part "file". */
import { describe, expect, test } from 'bun:test'
import { stored } from '../../support/clients/answers.ts'
import { newcomer, type Part, refusal } from '../../support/clients/api.ts'
import { hostOfFile } from '../../support/servers/owned-host.ts'

const holdfast = await hostOfFile()
const FILE: Part = { disposition: 'name="file"; filename="a.bin"', content: 'content' }
const MIB = 1024 * 1024

const field = (name: string, content: string): Part => ({ disposition: `name="${name}"`, content })

async function nothingStored(parts: readonly Part[], headers: Record<string, string> = {}) {
  const caller = await newcomer(holdfast)
  const answer = await caller.uploadParts(parts, { headers })
  expect((await stored(caller)).files_count).toBe(0)
  return answer
}

describe('a piece of a file is not stored as a whole one', () => {
  const COUNTS = ['dztotalchunkcount', 'chunks', 'resumableTotalChunks', 'flowTotalChunks', 'qqtotalparts']

  for (const name of COUNTS) {
    test.each([
      ['before', (count: Part) => [count, FILE]],
      ['behind', (count: Part) => [FILE, count]],
    ])(`when ${name} %s the file says so`, async (_, arrange) => {
      for (const count of ['2', '12', ' 3 ', '002', '10000000000000000000000']) {
        const answer = await nothingStored(arrange(field(name, count)))
        expect(answer).toMatchObject(refusal('INVALID_REQUEST', /\/api\/v1\/uploads/))
      }
    })

    test(`and a file whose ${name} is 1 is whole`, async () => {
      const caller = await newcomer(holdfast)
      for (const count of ['1', '0', '01', '', 'many']) {
        expect((await caller.uploadParts([field(name, count), FILE])).status).toBe(200)
      }
    })
  }

  test.each(['bytes 0-6/70', 'bytes 7-13/14', 'bytes 0-6/*', 'bytes */7', 'seven'])(
    'when Content-Range is %s',
    async (range) => {
      const answer = await nothingStored([FILE], { 'content-range': range })
      expect(answer).toMatchObject(refusal('INVALID_REQUEST', /\/api\/v1\/uploads/))
    },
  )

  test('and a Content-Range of the whole file is taken, in a form and as the body', async () => {
    const caller = await newcomer(holdfast)
    const headers = { 'content-range': 'bytes 0-6/7' }
    expect((await caller.uploadParts([FILE], { headers })).status).toBe(200)
    const put = await caller.send('/api/v1/upload/a.bin', { method: 'PUT', body: 'content', headers })
    expect(put.status).toBe(200)
  })
})

describe('a file in another field than "file"', () => {
  test.each([
    ['small', 100],
    ['over 1 MB', 3 * MIB],
  ])('is refused with the names of both fields when it is %s', async (_, size) => {
    const photo = { disposition: 'name="photo"; filename="a.jpg"', content: 'x'.repeat(size) }
    for (const parts of [[photo], [field('title', 'x'), photo], [photo, field('title', 'x')]]) {
      const answer = await nothingStored(parts)
      expect(answer).toMatchObject(refusal('INVALID_REQUEST', /"photo".*"file"/))
    }
  })

  test('is ignored beside the file, and counts as stored nowhere', async () => {
    const caller = await newcomer(holdfast)
    const photo = { disposition: 'name="photo"; filename="a.jpg"', content: 'x'.repeat(MIB / 2) }
    expect((await caller.uploadParts([photo, FILE])).status).toBe(200)
    expect((await caller.uploadParts([FILE, photo])).status).toBe(200)
    expect(await stored(caller)).toMatchObject({ files_count: 2, storage_used: 14 })
  })

  test.each([
    ['with a file name', 'name="photo"; filename="a.jpg"'],
    ['without one', 'name="photo"'],
  ])(
    'or any other part %s, of more than 1 MB beside the file, is refused by its name',
    async (_, disposition) => {
      const answer = await nothingStored([FILE, { disposition, content: 'x'.repeat(MIB + 1) }])
      expect(answer).toMatchObject(refusal('PAYLOAD_TOO_LARGE', /"photo"/))
    },
  )
})

describe('parts named "file"', () => {
  test('are refused when there are two', async () => {
    const answer = await nothingStored([FILE, FILE])
    expect(answer).toMatchObject(refusal('INVALID_REQUEST', /one file/))
  })

  test('are no files without a file name, or with an empty one', async () => {
    const caller = await newcomer(holdfast)
    const unpicked: Part = { disposition: 'name="file"; filename=""', content: '' }
    expect(await nothingStored([unpicked])).toMatchObject(refusal('INVALID_REQUEST'))
    for (const other of [unpicked, field('file', 'text')]) {
      expect((await caller.uploadParts([other, FILE])).status).toBe(200)
      expect((await caller.uploadParts([FILE, other])).status).toBe(200)
    }
  })
})
