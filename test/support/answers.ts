/** Answers of the JSON API that many tests read, checked first. */
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

/** A page of the list of files. */
export const list = (caller: Api, query = '') => read(caller, `/api/v1/files${query}`, listShape)

/** The names of that page's files, in its order. */
export const names = async (caller: Api, query: string) =>
  (await list(caller, query)).data.map((file) => file.name)

/** A file as its owner is told about it. */
export const detail = async (caller: Api, id: string | number) =>
  (await read(caller, `/api/v1/file/${id}`, detailShape)).data

/** All folders, or those that the path lists. */
export const folders = async (caller: Api, path = '/api/v1/folders') =>
  (await read(caller, path, foldersShape)).data

/** What is stored in the caller's account. */
export const stored = async (caller: Api) => (await read(caller, '/api/v1/account', accountShape)).data
