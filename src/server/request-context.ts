import type { Caller } from '../core/callers.ts'
import type { Verdict } from '../core/rate-limits/rate-limits.ts'
import type { Refusal } from '../domain/errors.ts'
import type { Call, Need, Site } from './call.ts'
import type { Connection } from './connections/exchange.ts'
import { addressBucket, clientAddress, type TrustedProxies } from './requests/client-address.ts'
import type { Origins } from './route.ts'

export class RequestContext implements Call {
  readonly site: Site
  readonly request: Request
  readonly connection: Connection
  readonly id: string
  readonly headers = new Map<string, string>()
  /** Pattern, or `-` without a match. */
  route = '-'
  /** Default for unmatched paths, whose responses reveal nothing. */
  origins: Origins = 'any origin'
  bodyLimit = 0
  params: Readonly<Record<string, string>> = {}
  need: Need | null = null
  caller: Caller | null = null
  rate: Verdict | null = null
  refusal: Refusal | null = null
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

  get peer(): string {
    return this.connection.address
  }

  get bucket(): string {
    return addressBucket(this.address)
  }
}
