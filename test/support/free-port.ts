import { createServer } from 'node:net'

/**
 * A port of this machine on which nobody listens, for programs that cannot pick one themselves. It lies below those
 * that the system gives to outgoing connections, or one of them could take it before the program does.
 */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < 100; tries++) {
    const port = 10_000 + Math.floor(Math.random() * 20_000)
    if (await canListen(port)) return port
  }
  throw new Error('no free port was found among 100')
}

function canListen(port: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const server = createServer()
  server.once('error', () => resolve(false))
  server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
  return promise
}
