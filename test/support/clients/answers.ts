/** Frequently read answers of the JSON API, validated. */
import { expect } from 'bun:test'
import { z } from 'zod'
import type { Api } from './api.ts'

const listShape = z.object({
  data: z.array(z.object({ id: z.number(), name: z.string(), size: z.number(), created_at: z.string() })),
  pagination: z.object({ page: z.number(), per_page: z.number(), total: z.number(), pages: z.number() }),
})
const detailShape = z.object({
  data: z.object({
    name: z.string(),
    type: z.string(),
    created_at: z.string(),
    expires_at: z.string(),
    downloads: z.number(),
    views: z.number(),
  }),
})
const foldersShape = z.object({
  data: z.array(
    z.object({
      id: z.string(),
      name: z.string(),
      public: z.boolean(),
      has_password: z.boolean(),
      file_count: z.number(),
      parent: z.string().nullable(),
      parent_id: z.string().nullable(),
    }),
  ),
})
const accountShape = z.object({ data: z.object({ storage_used: z.number(), files_count: z.number() }) })

async function read<T extends z.ZodType>(caller: Api, path: string, shape: T): Promise<z.infer<T>> {
  const answer = await caller.get(path)
  expect(answer).toMatchObject({ status: 200, body: { success: true } })
  return shape.parse(answer.body)
}

/** One page of the list of files. */
export const list = (caller: Api, query = '') => read(caller, `/api/v1/files${query}`, listShape)

/** Names on that page, in order. */
export const names = async (caller: Api, query: string) =>
  (await list(caller, query)).data.map((file) => file.name)

/** Details of a file as its owner sees them. */
export const detail = async (caller: Api, id: string | number) =>
  (await read(caller, `/api/v1/file/${id}`, detailShape)).data

/** All folders, or those listed by the path. */
export const folders = async (caller: Api, path = '/api/v1/folders') =>
  (await read(caller, path, foldersShape)).data

/** Storage figures of the caller's account. */
export const stored = async (caller: Api) => (await read(caller, '/api/v1/account', accountShape)).data
