/** One request on its way through a proxy, and what a fault makes of it. */
import type { Socket } from 'node:net'

/** What happens to one request. Counts are in bytes of the body, without the head. */
export type Fault =
  /** The connection ends before the store has seen anything of it. */
  | { readonly kind: 'cut' }
  /** So much of the body gets to the store, then both connections end. */
  | { readonly kind: 'cut-request'; readonly after: number }
  /** So much of the answer's body gets back, then the connection ends. */
  | { readonly kind: 'cut-response'; readonly after: number }
  /** The request is taken, and nothing ever comes back. The store never sees it. */
  | { readonly kind: 'stall' }
  /** The head and so much of the answer's body get back, and then nothing more. */
  | { readonly kind: 'stall-response'; readonly after: number }
  /** The store never sees it; this is answered instead. */
  | { readonly kind: 'answer'; readonly status: number; readonly code?: string }
  /** The store does it, and its whole answer is lost. */
  | { readonly kind: 'lose-answer' }
  /** One byte of the body arrives changed. */
  | { readonly kind: 'spoil'; readonly at: number }
  /** The store does not get to see this header. */
  | { readonly kind: 'drop-header'; readonly name: string }

/** A request as it came in, with what of its body came along with the head. */
export interface Incoming {
  readonly client: Socket
  readonly head: string
  readonly rest: Buffer
  /** Opens the connection to the store. */
  readonly dial: () => Socket
}

/** Passes it to the store and the answer back, but for what the fault does. */
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

/** Takes what comes up to the empty line; what follows it is handed over too, and further data is the caller's. */
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
  // A request without a body has its middle after the head.
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

/** Passes the head and so many bytes of the answer's body, and ends with the store there. */
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

/** The request is read to its end first, as stores do. */
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
