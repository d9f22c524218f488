/** One proxied request and the fault applied to it. */
import type { Socket } from 'node:net'

/** Fault of one request. Counts are in bytes of the body, without the head. */
export type Fault =
  /** Ends the connection before the store has received anything. */
  | { readonly kind: 'cut' }
  /** Forwards so much of the request's body, then ends both connections. */
  | { readonly kind: 'cut-request'; readonly after: number }
  /** Forwards so much of the response's body, then ends the connection. */
  | { readonly kind: 'cut-response'; readonly after: number }
  /** Accepts the request and never answers. The store does not receive it. */
  | { readonly kind: 'stall' }
  /** Forwards the head and so much of the response's body, and then nothing more. */
  | { readonly kind: 'stall-response'; readonly after: number }
  /** Answers with this instead of the store, which does not receive the request. */
  | { readonly kind: 'answer'; readonly status: number; readonly code?: string }
  /** Lets the store process the request, and drops its response. */
  | { readonly kind: 'lose-answer' }
  /** Changes one byte of the request's body. */
  | { readonly kind: 'spoil'; readonly at: number }
  /** Removes this header. */
  | { readonly kind: 'drop-header'; readonly name: string }

/** An incoming request, with the part of its body that arrived with the head. */
export interface Incoming {
  readonly client: Socket
  readonly head: string
  readonly rest: Buffer
  /** Opens a connection to the store. */
  readonly dial: () => Socket
}

/** Forwards the request and its response, apart from the fault. */
export function pass(incoming: Incoming, fault: Fault | null): void {
  const { client, head, dial } = incoming
  switch (fault?.kind) {
    case 'cut':
      client.destroy()
      return
    case 'stall':
      client.resume()
      return
    case 'answer':
      answer(incoming, fault)
      return
  }
  const store = dial()
  store.on('error', () => client.destroy())
  client.on('close', () => store.destroy())
  store.write(fault?.kind === 'drop-header' ? without(head, fault.name) : head)
  passBody(incoming, store, fault)
  passAnswer(client, store, fault)
}

/**
 * Receives up to the empty line and passes the head with the remaining bytes on; later data is left to the
 * caller.
 */
export function receiveHead(socket: Socket, use: (head: string, rest: Buffer) => void): void {
  let received = Buffer.alloc(0)
  const take = (bytes: Buffer) => {
    received = Buffer.concat([received, bytes])
    const end = received.indexOf('\r\n\r\n')
    if (end === -1) return
    socket.off('data', take)
    use(received.subarray(0, end + 4).toString('latin1'), received.subarray(end + 4))
  }
  socket.on('data', take)
}

export function without(head: string, header: string): string {
  return head.replace(new RegExp(`^${header}:.*\\r\\n`, 'im'), '')
}

function bodyLength(head: string): number {
  return Number(/^content-length: *(\d+)/im.exec(head)?.[1] ?? 0)
}

function passBody({ client, head, rest }: Incoming, store: Socket, fault: Fault | null): void {
  // For a request without a body the cut comes after the head.
  const limit = fault?.kind === 'cut-request' ? Math.min(fault.after, bodyLength(head)) : Infinity
  let passed = 0
  const cut = () => {
    store.destroy()
    client.destroy()
  }
  const send = (bytes: Buffer) => {
    if (passed + bytes.length >= limit) {
      client.pause()
      store.write(bytes.subarray(0, limit - passed), cut)
      return
    }
    const body = fault?.kind === 'spoil' ? spoilt(bytes, fault.at - passed) : bytes
    passed += body.length
    if (store.write(body)) return
    client.pause()
    store.once('drain', () => client.resume())
  }
  send(rest)
  client.on('data', send)
}

function passAnswer(client: Socket, store: Socket, fault: Fault | null): void {
  switch (fault?.kind) {
    case 'lose-answer':
      store.resume()
      store.on('end', () => client.destroy())
      return
    case 'cut-response':
      passStart(client, store, fault.after, () => client.destroy())
      return
    case 'stall-response':
      passStart(client, store, fault.after, () => {})
      return
    default:
      store.pipe(client)
  }
}

/** Forwards the head and so many bytes of the response's body, then closes the store's connection. */
function passStart(client: Socket, store: Socket, limit: number, then: () => void): void {
  let passed = 0
  receiveHead(store, (head, first) => {
    client.write(head)
    const send = (bytes: Buffer) => {
      const part = bytes.subarray(0, limit - passed)
      passed += part.length
      client.write(part, () => {
        if (passed < limit) return
        store.destroy()
        then()
      })
    }
    send(first)
    store.on('data', send)
  })
}

function spoilt(bytes: Buffer, at: number): Buffer {
  if (at < 0 || at >= bytes.length) return bytes
  const changed = Buffer.from(bytes)
  changed.writeUInt8(changed.readUInt8(at) ^ 1, at)
  return changed
}

/** Reads the request to its end before it answers, as stores do. */
function answer(
  { client, head, rest }: Incoming,
  { status, code }: Extract<Fault, { kind: 'answer' }>,
): void {
  const body = code === undefined ? '' : `<?xml version="1.0"?><Error><Code>${code}</Code></Error>`
  let left = bodyLength(head) - rest.length
  const finish = () =>
    client.end(
      `HTTP/1.1 ${status} As Told\r\nConnection: close\r\nContent-Type: application/xml\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    )
  if (left <= 0) finish()
  client.on('data', (bytes: Buffer) => {
    if (left <= 0) return
    left -= bytes.length
    if (left <= 0) finish()
  })
}
