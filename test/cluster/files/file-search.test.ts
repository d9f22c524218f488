import { describe, expect, test } from 'bun:test'
import { list, names } from '../../support/clients/answers.ts'
import { type Api, newcomer } from '../../support/clients/api.ts'
import { hostOfFile } from '../../support/servers/owned-host.ts'

const holdfast = await hostOfFile()

/** A caller with files of the given names, uploaded in their order. */
async function owner(...fileNames: string[]): Promise<Api> {
  const caller = await newcomer(holdfast)
  for (const name of fileNames) await caller.put(name, { name })
  return caller
}

const search = (text: string) => `?search=${encodeURIComponent(text)}`

describe('the search for files', () => {
  test.each([
    ['a part of the name', 'eport', 'Report 2024.pdf'],
    ['another case', 'REPORT', 'Report 2024.pdf'],
    ['one letter', 'R', 'Report 2024.pdf'],
    ['words with a blank', 'port 20', 'Report 2024.pdf'],
    ['Cyrillic in another case', 'ОТЧЁТ', 'отчёт.doc'],
    ['an accented letter in another case', 'ÉTÉ', 'été.jpg'],
    ['a decomposed letter', 'e\u0301te\u0301', 'été.jpg'],
    ['Greek in another case', 'οδοσ', 'ΟΔΟΣΑ.txt'],
    ['Greek with a sigma inside the word', 'ΟΔΟΣ', 'ΟΔΟΣΑ.txt'],
    ['Armenian in another case', 'ՀԱՅ', 'հայ.txt'],
    ['a script beyond the basic plane in another case', '𐐔𐐇𐐝', '𐐼𐐯𐑅.txt'],
    ['Chinese, one character', '告', '報告.txt'],
    ['a percent sign', '0%', '100% done.txt'],
    ['an underscore', 'snake_', 'snake_case.ts'],
    ['a quotation mark', "'", "it's.txt"],
    ['a star and a bracket', '*[', 'star*[x].txt'],
    ['words of a query language', 'AND NOT', 'this AND NOT that.txt'],
  ])('finds %s', async (_, text, name) => {
    const caller = await owner(name, 'something else', 'zzz', 'snakeXcase.ts', '1000 done.txt')
    const found = await names(caller, search(text))
    expect(found).toContain(name)
    expect(found).not.toContain('zzz')
  })

  test('takes percent sign, underscore and backslash as they are', async () => {
    const caller = await owner('100% done.txt', '1000 done.txt', 'snake_case', 'snakeXcase')
    expect(await names(caller, search('%'))).toEqual(['100% done.txt'])
    expect(await names(caller, search('_'))).toEqual(['snake_case'])
    expect(await names(caller, search('\\'))).toEqual([])
    expect(await names(caller, search('snake_case'))).toEqual(['snake_case'])
    expect(await names(caller, search('"'))).toEqual([])
  })

  test('for more than any name can have is refused before it is normalised', async () => {
    const caller = await owner()
    const answer = await caller.get(`/api/v1/files${search(`a${'\u0323\u0301'.repeat(1000)}`)}`)
    expect(answer).toMatchObject({ status: 400, body: { message: expect.stringContaining('"search"') } })
  })

  test('counts and pages only what it finds', async () => {
    const caller = await owner('apple 1', 'pear', 'apple 2', 'apple 3')
    const page = await list(caller, '?search=apple&per_page=2&page=2')
    expect(page.data.map((file) => file.name)).toEqual(['apple 1'])
    expect(page.pagination).toEqual({ page: 2, per_page: 2, total: 3, pages: 2 })
    expect((await list(caller, '?search=apple&sort=name&order=asc')).data[0]?.name).toBe('apple 1')
  })

  test('can be within a folder', async () => {
    const caller = await newcomer(holdfast)
    const folder = await caller.folder('fruit')
    await caller.put('x', { name: 'apple inside', folder })
    await caller.put('x', { name: 'apple outside' })
    expect(await names(caller, `?search=apple&folder=${folder}`)).toEqual(['apple inside'])
    expect(await names(caller, '?search=apple&folder=root')).toEqual(['apple outside'])
  })

  test('finds nothing of others, and everything when it is empty', async () => {
    const caller = await owner('mine')
    await owner('mine too')
    expect(await names(caller, '?search=mine')).toEqual(['mine'])
    expect(await names(caller, '?search=')).toEqual(['mine'])
    expect(await names(caller, '?search=nothing')).toEqual([])
  })
})
