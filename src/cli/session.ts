import { homedir } from 'node:os'
import { join } from 'node:path'
import { type Api, createApi } from '../client/api.ts'
import { ClientError, explainLocal } from '../client/failure.ts'
import type { Server } from '../client/http.ts'
import { createLogins, type Logins } from '../client/logins.ts'
import { createRetries, type Retries } from '../client/retries.ts'
import { parseServer } from '../client/server-address.ts'
import type { Environment } from '../config.ts'
import { systemClock } from '../domain/clock.ts'
import { clientVariables } from '../settings.ts'
import { printProblem } from './output.ts'

export interface ServerOption {
  readonly server?: string
}

/** What a command of the client speaks with, and as whom. */
export interface Session {
  readonly server: Server
  readonly retries: Retries
}

/** Where this user's settings are; a folder of `holdfast` is in it. */
function settingsFolder(environment: Environment): string {
  return environment.XDG_CONFIG_HOME || environment.APPDATA || join(homedir(), '.config')
}

/** Where programs keep what this user need not know of. */
export function stateFolder(environment: Environment): string {
  return environment.XDG_STATE_HOME || environment.LOCALAPPDATA || join(homedir(), '.local', 'state')
}

export function openLogins(environment: Environment): Logins {
  return createLogins(settingsFolder(environment))
}

/** `say`: hears what is waited for. */
export function openRetries(say: (line: string) => void): Retries {
  return createRetries({ clock: systemClock, chance: Math.random, sleep: Bun.sleep, say })
}

/** The server that an option, the environment or the last login names. Throws ClientError when none does. */
export async function serverAddress(environment: Environment, { server }: ServerOption): Promise<string> {
  const named = server ?? environment[clientVariables.server]
  if (named) return parseServer(named)
  const current = await openLogins(environment).current()
  if (current !== null) return current
  throw new ClientError(
    `which server? Log in with "holdfast login <server>", or name one with --server or ${clientVariables.server}.`,
  )
}

/** The key for a server: that of the environment, or of the login there; null when there is none. */
export async function keyFor(environment: Environment, server: string): Promise<string | null> {
  const given = environment[clientVariables.apiKey]
  if (given) return given
  return (await openLogins(environment).at(server))?.api_key ?? null
}

/** The same for a server that a link leads to: the environment's key is for the server that is meant, and no other. */
export async function keyForLink(
  environment: Environment,
  server: string,
  options: ServerOption,
): Promise<string | null> {
  const meant = await serverAddress(environment, options).catch(() => null)
  if (meant === server) return keyFor(environment, server)
  return (await openLogins(environment).at(server))?.api_key ?? null
}

export async function openSession(
  environment: Environment,
  options: ServerOption,
  say: (line: string) => void,
): Promise<Session> {
  const url = await serverAddress(environment, options)
  return { server: { url, key: await keyFor(environment, url) }, retries: openRetries(say) }
}

/** The API for somebody with a key. Throws ClientError for nobody. */
export async function openApi(environment: Environment, options: ServerOption): Promise<Api> {
  const { server, retries } = await openSession(environment, options, sayPlainly)
  if (server.key === null) throw notLoggedIn(server.url)
  return createApi(server, retries)
}

export function notLoggedIn(url: string, otherwise = ''): ClientError {
  return new ClientError(`no API key for ${url}: log in with "holdfast login ${url}"${otherwise}.`)
}

export function sayPlainly(line: string): void {
  printProblem(line)
}

/** Runs a command of the client: what fails on this machine is its user's, and not that of a server's data. */
export async function asClient(command: () => Promise<void>): Promise<void> {
  try {
    await command()
  } catch (error) {
    throw locally(error)
  }
}

/** The same failure, worded for the person whose disk it is. */
export function locally(error: unknown): unknown {
  const local = explainLocal(error)
  return local === null ? error : new ClientError(local, { cause: error })
}
