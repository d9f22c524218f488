/** Sizes of buffers are powers of two, so that there are few of them. */
const SMALLEST = 16 * 1024

/** Bytes that are kept for reuse. */
const MOST_IDLE = 16 * 1024 * 1024

/** Bytes in use above which buffers are small: thousands of slow receivers must not fill the memory. */
const MOST_USED = 64 * 1024 * 1024
const SMALL = 64 * 1024

const idle = new Map<number, Uint8Array[]>()
let idleBytes = 0
let usedBytes = 0

/**
 * A buffer of so many bytes or more, with anything in it; of fewer while very many are in use. Buffers are used again,
 * because the system clears fresh memory page by page as it is first written. It must be given back or dropped.
 */
export function takeBuffer(bytes: number): Uint8Array {
  const wanted = Math.max(SMALLEST, 2 ** Math.ceil(Math.log2(bytes)))
  const size = usedBytes + wanted > MOST_USED ? Math.min(wanted, SMALL) : wanted
  usedBytes += size
  const buffer = idle.get(size)?.pop()
  if (buffer === undefined) return new Uint8Array(size)
  idleBytes -= size
  return buffer
}

/** Gives up a buffer that something else may still read, so that it is not used again. */
export function dropBuffer(buffer: Uint8Array): void {
  usedBytes -= buffer.byteLength
}

/** Keeps a buffer that `takeBuffer` returned. The caller must not use it any more. */
export function giveBuffer(buffer: Uint8Array): void {
  const size = buffer.byteLength
  usedBytes -= size
  if (idleBytes + size > MOST_IDLE) return
  const same = idle.get(size)
  if (same === undefined) idle.set(size, [buffer])
  else same.push(buffer)
  idleBytes += size
}
