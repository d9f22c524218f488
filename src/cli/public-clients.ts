import { ClientError } from '../client/failure.ts'
import { createLinkClient, type LinkClient } from '../client/link-client.ts'
import { createPublicClient, type PublicClient } from '../client/public-client.ts'
import type { Retries } from '../client/retries.ts'
import type { Environment } from '../config/environment.ts'
import { clientVariables } from '../settings.ts'
import type { ShownProgress } from './progress-bars.ts'
import { isInteractive, promptSecret } from './prompt.ts'
import { keyForLink, type ServerOption } from './session.ts'

export interface PublicClientOptions extends ServerOption {
  readonly password?: string
}

/** One session per server, so that a password is only asked for once. */
export interface PublicClients {
  at(server: string): Promise<PublicClient>
  link(server: string, slug: string): Promise<LinkClient>
}

export function createPublicClients(
  environment: Environment,
  options: PublicClientOptions,
  retries: Retries,
  watch: ShownProgress,
): PublicClients {
  const clients = new Map<string, Promise<PublicClient>>()
  let asked: Promise<string> | null = null

  function password(): Promise<string> {
    asked ??= options.password ? Promise.resolve(options.password) : findPassword(environment, watch)
    return asked
  }

  async function open(server: string): Promise<PublicClient> {
    const key = await keyForLink(environment, server, options)
    return createPublicClient({ url: server, key }, retries, password)
  }

  function at(server: string): Promise<PublicClient> {
    const client = clients.get(server) ?? open(server)
    clients.set(server, client)
    return client
  }

  return {
    at,
    async link(server, slug) {
      const { server: remote } = await at(server)
      return createLinkClient(remote, slug, retries, password)
    },
  }
}

async function findPassword(environment: Environment, watch: ShownProgress): Promise<string> {
  const given = environment[clientVariables.password]
  if (given) return given
  if (!isInteractive()) {
    throw new ClientError(`a password is needed: give it with --password or ${clientVariables.password}.`)
  }
  return watch.paused(() => promptSecret('Password: '))
}
