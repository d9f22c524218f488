import { ClientError } from './failure.ts'

const LOOPBACK = /^(?:localhost|[^/:]+\.localhost|127(?:\.\d+){3}|\[::1\])(?=[:/]|$)/i

/** Without a scheme https, or http on this machine. Throws ClientError. */
export function parseServer(text: string): string {
  const url = URL.parse(
    /^[a-z]+:\/\//i.test(text) ? text : `${LOOPBACK.test(text) ? 'http' : 'https'}://${text}`,
  )
  const isBare = url !== null && url.username === '' && url.password === '' && url.pathname === '/'
  if (isBare && /^https?:$/.test(url.protocol) && url.search === '' && url.hash === '') return url.origin
  throw new ClientError(
    `"${text}" is not the address of a server; it looks like https://files.example.org, without a path.`,
  )
}
