import { describe, expect, test } from 'bun:test'
import { chunksUnlessAborted, endsWithin, unlessAborted } from '../../../src/domain/abort.ts'

const never = <T>() => new Promise<T>(() => {})
const gone = new Error('gone')

describe('work that may be aborted', () => {
  test('gives what it gives, also when it is aborted later', async () => {
    const controller = new AbortController()
    expect(await unlessAborted(controller.signal, Promise.resolve(1))).toBe(1)
    await expect(unlessAborted(controller.signal, Promise.reject(gone))).rejects.toBe(gone)
    controller.abort(new Error('too late'))
  })

  test('fails when it is aborted, though it never hears of it', async () => {
    const controller = new AbortController()
    const waiting = unlessAborted(controller.signal, never())
    controller.abort(gone)
    await expect(waiting).rejects.toBe(gone)
    await expect(unlessAborted(controller.signal, never())).rejects.toBe(gone)
  })
})

describe('a stream that may be aborted', () => {
  const first = new Uint8Array([1, 2])
  const second = new Uint8Array([3])

  test('comes whole', async () => {
    const stream = new Response(new Blob([first, second])).body
    const chunks = await Array.fromAsync(
      chunksUnlessAborted(new AbortController().signal, stream ?? new ReadableStream()),
    )
    expect(Buffer.concat(chunks)).toEqual(Buffer.from([1, 2, 3]))
  })

  test('ends in its middle when it is aborted, though it never hears of it', async () => {
    const controller = new AbortController()
    const stream = new ReadableStream<Uint8Array>({
      start: (into) => into.enqueue(first),
      pull: () => never(),
      cancel: () => never(),
    })
    const seen: Uint8Array[] = []
    const reading = (async () => {
      for await (const chunk of chunksUnlessAborted(controller.signal, stream)) {
        seen.push(chunk)
        controller.abort(gone)
      }
    })()
    await expect(reading).rejects.toBe(gone)
    expect(seen).toEqual([first])
  })

  test('is let go of by who has seen enough', async () => {
    let isLetGo = false
    const stream = new ReadableStream<Uint8Array>({
      start: (into) => into.enqueue(first),
      cancel: () => {
        isLetGo = true
      },
    })
    for await (const _ of chunksUnlessAborted(new AbortController().signal, stream)) break
    expect(isLetGo).toBe(true)
  })
})

test('who waits for an end waits so long and no longer', async () => {
  expect(await endsWithin(60_000, Promise.resolve())).toBe(true)
  expect(await endsWithin(1, never())).toBe(false)
  await expect(endsWithin(60_000, Promise.reject(gone))).rejects.toBe(gone)
})
