/** One upload in parts whose bytes come after it was created (`concatenation-unfinished`). */
import { expect } from 'bun:test'
import type { Database } from '../../../src/database/database.ts'
import { metadata, type Started, type Tus } from './tus.ts'

export interface StartedInParts extends Started {
  /** Paths of the parts in their order. */
  readonly parts: readonly string[]
  /** Sends the bytes of the content from there on, which are in one part. */
  send(content: Uint8Array<ArrayBuffer>, from: number, to: number): Promise<void>
}

/** Begins an upload of so many bytes in parts of `length` bytes. Nothing of it is sent. */
export async function startInParts(client: Tus, size: number, length: number): Promise<StartedInParts> {
  const parts: string[] = []
  for (let from = 0; from < size; from += length) {
    const { path } = await client.start(Math.min(length, size - from), {}, { 'upload-concat': 'partial' })
    parts.push(path)
  }
  const answer = await client.create({
    'upload-concat': `final;${parts.join(' ')}`,
    'upload-metadata': metadata({ filename: 'film.mkv' }),
  })
  expect(answer).toMatchObject({ status: 201, body: { status: 'uploading' } })
  const path = answer.headers.get('location') ?? ''
  return {
    path,
    slug: answer.headers.get('holdfast-slug') ?? '',
    parts,
    async send(content, from, to) {
      const part = Math.floor(from / length)
      const sent = await client.patch(parts[part] ?? '', from - part * length, content.slice(from, to))
      expect(sent.status).toBe(204)
    },
  }
}

/** How many parts have all their bytes while others are still to come. */
export async function partsThatHaveCome(database: Database): Promise<number> {
  const parts = await database
    .selectFrom('uploads')
    .select('id')
    .where('kind', '=', 'partial')
    .where('state', '=', 'completed')
    .where('joined_into', 'is', null)
    .where('ended_at', 'is', null)
    .execute()
  return parts.length
}
