import { nameByContent } from '../domain/media-type.ts'

/** Bytes that reveal a content's type. */
const HEAD = 4100

export interface NamedInput {
  readonly name: string
  readonly content: AsyncIterable<Uint8Array>
}

export async function namedInput(stream: AsyncIterable<Uint8Array>): Promise<NamedInput> {
  const chunks = stream[Symbol.asyncIterator]()
  const head: Uint8Array[] = []
  for (let length = 0; length < HEAD; ) {
    const { done, value } = await chunks.next()
    if (done) break
    head.push(value)
    length += value.byteLength
  }
  return { name: await nameByContent(Buffer.concat(head), null), content: rest(head, chunks) }
}

async function* rest(
  head: readonly Uint8Array[],
  chunks: AsyncIterator<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  yield* head
  for (let next = await chunks.next(); !next.done; next = await chunks.next()) yield next.value
}
