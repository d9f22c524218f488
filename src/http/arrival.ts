import type { Caller } from '../services/caller.ts'
import type { Verdict } from '../services/rate-limits.ts'
import type { Call, Site } from './call.ts'
import { addressBucket, clientAddress, type TrustedProxies } from './client-address.ts'
import type { Connection } from './listener.ts'
import type { Need } from './need.ts'

/** A request from its arrival to its answer. The router fills in what it asks for. */
export class Arrival implements Call {
  readonly site: Site
  readonly request: Request
  readonly connection: Connection
  /** For the log. */
  readonly id: string
  readonly headers = new Map<string, string>()
  /** The pattern of the route, or `-` when none matches. */
  route = '-'
  params: Readonly<Record<string, string>> = {}
  need: Need | null = null
  caller: Caller | null = null
  rate: Verdict | null = null
  readonly #trusted: TrustedProxies
  #url: URL | null = null

  constructor(site: Site, request: Request, connection: Connection, id: string, trusted: TrustedProxies) {
    this.site = site
    this.request = request
    this.connection = connection
    this.id = id
    this.#trusted = trusted
  }

  get url(): URL {
    this.#url ??= new URL(this.request.url)
    return this.#url
  }

  get address(): string {
    const forwardedFor = this.request.headers.get('x-forwarded-for')
    return clientAddress(this.connection.address, forwardedFor, this.#trusted)
  }

  get bucket(): string {
    return addressBucket(this.address)
  }
}
