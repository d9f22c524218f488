import { ClientError } from '../client/failure.ts'
import { createLinkSide, type LinkSide } from '../client/link-side.ts'
import { createPublicSide, type PublicSide } from '../client/public-side.ts'
import type { Retries } from '../client/retries.ts'
import type { Environment } from '../config/environment.ts'
import { clientVariables } from '../settings.ts'
import type { ShownWatch } from './progress-bars.ts'
import { askSecret, isSomebodyThere } from './prompt.ts'
import { keyForLink, type ServerOption } from './session.ts'

export interface SideOptions extends ServerOption {
  readonly password?: string
}

/** Caches one session per server, so that a password is only asked for once. */
export interface Sides {
  at(server: string): Promise<PublicSide>
  link(server: string, slug: string): Promise<LinkSide>
}

export function createSides(
  environment: Environment,
  options: SideOptions,
  retries: Retries,
  watch: ShownWatch,
): Sides {
  const sides = new Map<string, Promise<PublicSide>>()
  let asked: Promise<string> | null = null

  function password(): Promise<string> {
    asked ??= options.password ? Promise.resolve(options.password) : findPassword(environment, watch)
    return asked
  }

  async function open(server: string): Promise<PublicSide> {
    const key = await keyForLink(environment, server, options)
    return createPublicSide({ url: server, key }, retries, password)
  }

  function at(server: string): Promise<PublicSide> {
    const side = sides.get(server) ?? open(server)
    sides.set(server, side)
    return side
  }

  return {
    at,
    async link(server, slug) {
      const { server: remote } = await at(server)
      return createLinkSide(remote, slug, retries, password)
    },
  }
}

async function findPassword(environment: Environment, watch: ShownWatch): Promise<string> {
  const given = environment[clientVariables.password]
  if (given) return given
  if (!isSomebodyThere()) {
    throw new ClientError(`a password is needed: give it with --password or ${clientVariables.password}.`)
  }
  return watch.paused(() => askSecret('Password: '))
}
