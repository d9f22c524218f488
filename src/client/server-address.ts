import { ClientError } from './failure.ts'

/** The origin of a server, from what people write: without a scheme it is https. Throws ClientError. */
export function parseServer(text: string): string {
  const url = URL.parse(/^[a-z]+:\/\//i.test(text) ? text : `https://${text}`)
  const isBare = url !== null && url.username === '' && url.password === '' && url.pathname === '/'
  if (isBare && /^https?:$/.test(url.protocol) && url.search === '' && url.hash === '') return url.origin
  throw new ClientError(
    `"${text}" is not the address of a server; it looks like https://files.example.org, without a path.`,
  )
}
