/** Powers of two, so that sizes are few. */
const SMALLEST = 16 * 1024

const MOST_IDLE = 16 * 1024 * 1024

/** Bytes in use above which buffers are small: thousands of slow receivers must not fill the memory. */
const MOST_USED = 64 * 1024 * 1024
const SMALL = 64 * 1024

const idle = new Map<number, Uint8Array[]>()
let idleBytes = 0
let usedBytes = 0

/** Any content; smaller under pressure. Reused: the system clears fresh memory by pages. Must be given or dropped. */
export function takeBuffer(bytes: number): Uint8Array {
  const wanted = Math.max(SMALLEST, 2 ** Math.ceil(Math.log2(bytes)))
  const size = usedBytes + wanted > MOST_USED ? Math.min(wanted, SMALL) : wanted
  usedBytes += size
  const buffer = idle.get(size)?.pop()
  if (buffer === undefined) return new Uint8Array(size)
  idleBytes -= size
  return buffer
}

/** For a buffer that may still be read: it is not reused. */
export function dropBuffer(buffer: Uint8Array): void {
  usedBytes -= buffer.byteLength
}

/** The caller must not use it any more. */
export function giveBuffer(buffer: Uint8Array): void {
  const size = buffer.byteLength
  usedBytes -= size
  if (idleBytes + size > MOST_IDLE) return
  const same = idle.get(size)
  if (same === undefined) idle.set(size, [buffer])
  else same.push(buffer)
  idleBytes += size
}
