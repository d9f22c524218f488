/** Operations on a caller's bin, with validated answers. */
import { expect } from 'bun:test'
import { z } from 'zod'
import type { Api } from './api.ts'

const put = z.object({
  data: z.object({ results: z.array(z.object({ entry: z.number().optional(), success: z.boolean() })) }),
})
const listed = z.object({
  data: z.array(
    z.object({
      id: z.number(),
      kind: z.enum(['file', 'folder']),
      name: z.string(),
      size: z.number(),
      files: z.number(),
      folder_id: z.string().nullable(),
      expires_at: z.string(),
      restoring: z.boolean(),
    }),
  ),
  pagination: z.object({ total: z.number() }),
})
const account = z.object({
  data: z.object({
    storage_used: z.number(),
    storage_in_bin: z.number(),
    files_count: z.number(),
    folders_count: z.number(),
  }),
})

export type BinEntry = z.infer<typeof listed>['data'][number]

/** Puts files and folders into the bin and returns their entries. */
export async function intoBin(
  caller: Api,
  things: { readonly files?: readonly (string | number)[]; readonly folders?: readonly string[] },
): Promise<number[]> {
  const answer = await caller.post('/api/v1/bin', things)
  expect(answer).toMatchObject({ status: 200, body: { success: true } })
  return put.parse(answer.body).data.results.map(({ entry }) => entry ?? 0)
}

/** Restores entries. */
export async function restore(caller: Api, entries: readonly number[], more: object = {}): Promise<void> {
  const answer = await caller.post('/api/v1/bin/restore', { entries, ...more })
  expect(answer).toMatchObject({ status: 200, body: { success: true, data: { restored: entries.length } } })
}

export async function binOf(caller: Api): Promise<BinEntry[]> {
  const { data, pagination } = listed.parse((await caller.get('/api/v1/bin?per_page=100')).body)
  expect(pagination.total).toBe(data.filter(({ restoring }) => !restoring).length)
  return data
}

export const totals = async (caller: Api) => account.parse((await caller.get('/api/v1/account')).body).data
