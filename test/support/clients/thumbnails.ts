import { expect } from 'bun:test'
import { z } from 'zod'
import { eventually } from '../eventually.ts'
import { type At, api, type Bytes, visit } from './public.ts'

type File = { readonly slug: string; readonly thumbnail_url: string }

const status = z.object({ has_thumbnail: z.boolean(), thumbnail: z.enum(['pending', 'ready', 'none']) })

/** Waits for the final thumbnail state in the upload status. */
export async function decided(host: At, key: string, file: File): Promise<'ready' | 'none'> {
  let told: z.infer<typeof status> | null = null
  await eventually('it is decided about the thumbnail', async () => {
    const answer = await api(host, key, 'GET', `/api/v1/upload/status?slug=${file.slug}`)
    told = status.parse(answer.body)
    return told.thumbnail !== 'pending'
  })
  const { has_thumbnail, thumbnail } = status.parse(told)
  expect(has_thumbnail).toBe(thumbnail === 'ready')
  return thumbnail === 'ready' ? 'ready' : 'none'
}

/** Waits for the thumbnail and returns its bytes. */
export async function thumbnailOf(host: At, key: string, file: File, query = ''): Promise<Bytes> {
  expect(await decided(host, key, file)).toBe('ready')
  const answer = await visit(host, file.thumbnail_url + query)
  expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'image/webp'])
  return new Uint8Array(await answer.bytes())
}

/** Expects that the file gets no thumbnail and its address shows the icon of its type. */
export async function expectIcon(host: At, key: string, file: File): Promise<void> {
  expect(await decided(host, key, file)).toBe('none')
  const answer = await visit(host, file.thumbnail_url)
  expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'image/svg+xml'])
}
