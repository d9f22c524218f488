import { beforeAll, expect, test } from 'bun:test'
import { z } from 'zod'
import { type Api, newcomer } from '../../support/clients/api.ts'
import { addCopies } from '../../support/contents/file-copies.ts'
import { hostOfFile } from '../../support/servers/owned-host.ts'

/** Hits that are counted exactly. */
const COUNTED = 10_000
const HITS = COUNTED + 51
const FEW = 7

let caller: Api
const holdfast = await hostOfFile()
beforeAll(async () => {
  caller = await newcomer(holdfast)
  const { file_id } = await caller.put('content', { name: 'granite.txt' })
  await addCopies(holdfast.database, file_id, HITS - 1, (number) =>
    number < FEW ? `granite and quartz ${number}.txt` : `granite ${number}.txt`,
  )
}, 120_000)

const answer = z.object({ pagination: z.unknown() })

async function paged(query: string): Promise<unknown> {
  const { status, body } = await caller.get(`/api/v1/files?per_page=100&${query}`)
  return status === 200 ? answer.parse(body).pagination : status
}

test('a search counts every hit unless it is asked for bounded totals', async () => {
  const exactly = { page: 1, per_page: 100, total: HITS, pages: 101 }
  expect(await paged('search=granite')).toEqual(exactly)
  expect(await paged('search=granite&totals=exact')).toEqual(exactly)
})

test('bounded totals tell of 10,000 hits, and that there are more', async () => {
  const bounded = { page: 1, per_page: 100, total: COUNTED, pages: 100, total_exact: false }
  expect(await paged('search=granite&totals=bounded')).toEqual(bounded)
  // No index knows of one letter.
  expect(await paged('search=g&totals=bounded')).toEqual(bounded)
})

test('bounded totals are exact up to 10,000 hits, and on the last pages', async () => {
  const few = { page: 1, per_page: 100, total: FEW, pages: 1, total_exact: true }
  expect(await paged('search=quartz&totals=bounded')).toEqual(few)
  const last = { page: 101, per_page: 100, total: HITS, pages: 101, total_exact: true }
  expect(await paged('search=granite&totals=bounded&page=101')).toEqual(last)
})

test('a list without a search is counted exactly', async () => {
  const all = { page: 1, per_page: 100, total: HITS, pages: 101, total_exact: true }
  expect(await paged('totals=bounded')).toEqual(all)
})

test('totals that do not exist are refused', async () => {
  expect(await paged('search=granite&totals=none')).toBe(400)
})

test('of a parameter that is given twice, the first counts', async () => {
  const exactly = { page: 1, per_page: 100, total: HITS, pages: 101 }
  expect(await paged('search=granite&totals=exact&totals=bounded')).toEqual(exactly)
  expect(await paged('totals=none&search=granite&totals=exact')).toBe(400)
  expect(await paged('search=granite&search=quartz&per_page=7')).toEqual(exactly)
})
