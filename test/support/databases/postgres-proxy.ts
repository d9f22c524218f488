/**
 * A proxy in front of PostgreSQL that parses just enough of its protocol to lose commits, on the way to the
 * server or their answers on the way back. https://www.postgresql.org/docs/15/protocol-message-formats.html
 */
import { connect, createServer, type Socket } from 'node:net'

/**
 * Fault of one commit; the connection ends in every case. - `before`: the server never receives it and sees
 * the connection end. - `during`: the answer is not awaited. - `after`: the server has executed it, and the
 * answer is dropped.
 */
export type CommitLoss = 'before' | 'during' | 'after'

export interface PostgresProxy {
  /** The database's URL through the proxy. */
  readonly url: string
  /**
   * Applies the fault to the next commit of this change, such as `insert into files`, wherever it stands in a statement:
   * in a transaction, or in a statement that is one by itself. `thenAway`: blocks all connections afterwards until
   * `comeBack`.
   */
  lose(loss: CommitLoss, change: string, options?: { readonly thenAway?: boolean }): void
  /** Number of lost commits so far. */
  lost(): number
  /** Accepts and forwards connections again. */
  comeBack(): void
  stop(): Promise<void>
}

interface Order {
  readonly loss: CommitLoss
  readonly change: string
  readonly thenAway: boolean
}

/** `target`: the database's URL, `postgres://user@host:port/name`, without TLS. */
export async function startPostgresProxy(target: string): Promise<PostgresProxy> {
  const { hostname, port } = new URL(target)
  const open = new Set<Socket>()
  let order: Order | null = null
  let lost = 0
  let away = false

  function end(...sockets: Socket[]): void {
    for (const socket of sockets) socket.destroy()
  }

  const listener = createServer((client) => {
    client.on('error', () => {})
    if (away) return end(client)
    const database = connect(Number(port), hostname)
    for (const socket of [client, database]) {
      open.add(socket)
      socket.on('close', () => {
        open.delete(socket)
        end(client, database)
      })
    }
    database.on('error', () => {})
    database.pipe(client)

    /** What was executed since the last commit. */
    let statements: string[] = []
    let inTransaction = false
    const named = new Map<string, string>()
    let unread = Buffer.alloc(0)
    let isStarted = false

    client.on('data', (bytes: Buffer) => {
      unread = Buffer.concat([unread, bytes])
      for (;;) {
        const message = firstMessage(unread, isStarted)
        if (message === null) return
        unread = unread.subarray(message.length)
        isStarted = true
        if (!take(message)) return
      }
    })

    /** Forwards a message; false when the connection has ended. */
    function take(message: Buffer): boolean {
      const text = statementOf(message, named)
      if (text !== null) {
        if (/^(begin|start transaction)/i.test(text)) {
          statements = []
          inTransaction = true
        }
        statements.push(text.toLowerCase().replaceAll('"', ''))
      }
      const rollsBack = text !== null && /^rollback/i.test(text)
      // A statement outside of a transaction is committed by the Sync that follows it.
      const commits = inTransaction ? text !== null && /^commit/i.test(text) : isSync(message)
      if (commits && meets(order, statements)) {
        lose(order, message)
        return false
      }
      if (rollsBack || commits) {
        inTransaction = false
        statements = []
      }
      database.write(message)
      return true
    }

    function lose({ loss, thenAway }: Order, commit: Buffer): void {
      order = null
      const finish = () => {
        lost++
        away = thenAway
        if (away) end(...open)
        end(client, database)
      }
      if (loss === 'before') {
        finish()
        return
      }
      database.unpipe(client)
      if (loss === 'during') {
        // The server executes what it received before the end of the connection.
        client.destroy()
        database.end(commit, finish)
        return
      }
      let answer = ''
      database.resume()
      database.on('data', (bytes: Buffer) => {
        answer += bytes.toString('latin1')
        if (answer.includes(READY)) finish()
      })
      database.write(commit)
    }
  })
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve))
  const address = listener.address()
  if (address === null || typeof address === 'string') throw new Error('the proxy listens nowhere')
  const url = new URL(target)
  url.hostname = '127.0.0.1'
  url.port = String(address.port)

  return {
    url: url.href,
    lose(loss, change, { thenAway = false } = {}) {
      order = { loss, change, thenAway }
    },
    lost: () => lost,
    comeBack() {
      away = false
    },
    async stop() {
      end(...open)
      await new Promise<void>((resolve) => listener.close(() => resolve()))
    },
  }
}

function meets(order: Order | null, statements: readonly string[]): order is Order {
  if (order === null) return false
  const change = new RegExp(`\\b${order.change}\\b`)
  return statements.some((statement) => change.test(statement))
}

/** ReadyForQuery outside of a transaction: whatever came before is committed. */
const READY = 'Z\0\0\0\x05I'

function isSync(message: Buffer): boolean {
  return message[0] === 'S'.charCodeAt(0) && message.length === 5
}

/**
 * The first complete message, or null while it is incomplete. A connection's very first message has no type.
 */
function firstMessage(bytes: Buffer, isStarted: boolean): Buffer | null {
  const before = isStarted ? 1 : 0
  if (bytes.length < before + 4) return null
  const length = before + bytes.readInt32BE(before)
  return bytes.length < length ? null : bytes.subarray(0, length)
}

/** The SQL that a message executes: that of a Query, or of a Bind to a prepared statement. */
function statementOf(message: Buffer, named: Map<string, string>): string | null {
  const strings = message.subarray(5).toString('utf8').split('\0')
  const [first = '', second = ''] = strings
  switch (String.fromCharCode(message[0] ?? 0)) {
    case 'Q':
      return first
    case 'P':
      named.set(first, second)
      return null
    case 'B':
      return named.get(second) ?? null
    default:
      return null
  }
}
