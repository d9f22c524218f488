import { homedir } from 'node:os'
import { join } from 'node:path'
import { type Api, createApi } from '../client/api.ts'
import { ClientError, explainLocal } from '../client/failure.ts'
import { parseServer, type RemoteServer } from '../client/http.ts'
import { createLogins, type Logins } from '../client/logins.ts'
import { createRetries, type Retries } from '../client/retries.ts'
import { type Environment, withoutPassword } from '../config/environment.ts'
import type { Config } from '../config.ts'
import { systemClock } from '../domain/clock.ts'
import { clientVariables } from '../settings.ts'
import { printProblem } from './output.ts'

export interface ServerOption {
  readonly server?: string
}

export interface ClientSession {
  readonly server: RemoteServer
  readonly retries: Retries
}

function settingsFolder(environment: Environment): string {
  return environment.XDG_CONFIG_HOME || environment.APPDATA || join(homedir(), '.config')
}

export function stateFolder(environment: Environment): string {
  return environment.XDG_STATE_HOME || environment.LOCALAPPDATA || join(homedir(), '.local', 'state')
}

export function openLogins(environment: Environment): Logins {
  return createLogins(settingsFolder(environment))
}

/** `say` receives a message whenever a retry has to wait. */
export function openRetries(say: (line: string) => void): Retries {
  return createRetries({ clock: systemClock, chance: Math.random, sleep: Bun.sleep, say })
}

/** From the option, the environment or the last login. Throws ClientError without any. */
export async function serverAddress(environment: Environment, { server }: ServerOption): Promise<string> {
  const named = server ?? environment[clientVariables.server]
  if (named) return parseServer(named)
  const current = await openLogins(environment).current()
  if (current !== null) return current
  throw new ClientError(
    `which server? Log in with "holdfast login <server>", or name one with --server or ${clientVariables.server}.`,
  )
}

/** From the environment or the login there; null without either. */
export async function keyFor(environment: Environment, server: string): Promise<string | null> {
  const given = environment[clientVariables.apiKey]
  if (given) return given
  return (await openLogins(environment).at(server))?.api_key ?? null
}

/** The environment's key is only used for the configured server, never sent to another. */
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
): Promise<ClientSession> {
  const url = await serverAddress(environment, options)
  return { server: { url, key: await keyFor(environment, url) }, retries: openRetries(say) }
}

/** Throws ClientError without a key. */
export async function openApi(environment: Environment, options: ServerOption): Promise<Api> {
  const { server, retries } = await openSession(environment, options, printNotice)
  if (server.key === null) throw notLoggedIn(server.url)
  return createApi(server, retries)
}

export function notLoggedIn(url: string, otherwise = ''): ClientError {
  return new ClientError(`no API key for ${url}: log in with "holdfast login ${url}"${otherwise}.`)
}

export function printNotice(line: string): void {
  printProblem(line)
}

/** Local failures, such as a full disk, are reported as the user's. */
export async function asClient(command: () => Promise<void>): Promise<void> {
  try {
    await command()
  } catch (error) {
    throw asLocalFailure(error)
  }
}

export function asLocalFailure(error: unknown): unknown {
  const local = explainLocal(error)
  return local === null ? error : new ClientError(local, { cause: error })
}

/** Without the password. */
export function databasePlace(config: Config): string {
  return config.databaseUrl === null ? config.dataDir : withoutPassword(config.databaseUrl)
}

export function bytesPlace(config: Config): string {
  return config.s3 === null ? config.dataDir : `${config.s3.endpoint}, bucket ${config.s3.bucket}`
}

/** Absolute. Without a public address, the address at which the server listens. */
export function linkAddress({ publicUrl, host, port }: Config, { path }: { readonly path: string }): string {
  const isEverywhere = ['0.0.0.0', '::', '127.0.0.1', '::1'].includes(host)
  return `${publicUrl ?? `http://${isEverywhere ? 'localhost' : host}:${port}`}${path}`
}
