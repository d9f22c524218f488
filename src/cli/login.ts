import type { Command } from 'commander'
import { createApi } from '../client/api.ts'
import { ClientError, isAnswer } from '../client/failure.ts'
import { parseServer } from '../client/http.ts'
import type { Environment } from '../config/environment.ts'
import { clientVariables } from '../settings.ts'
import { printLines } from './output.ts'
import { isInteractive, promptSecret, readSecretLine } from './prompt.ts'
import { asClient, openLogins, openRetries, printNotice } from './session.ts'

interface Options {
  readonly keyStdin?: true
}

export function loginCommand(login: Command, environment: Environment): void {
  login
    .description('keep an API key for a server; the commands below use it from then on')
    .argument('<server>', 'its address, such as https://files.example.org')
    .option(
      '--key-stdin',
      `read the key from standard input; else from ${clientVariables.apiKey}, or asked for`,
    )
    .action((server: string, options: Options) => asClient(() => run(environment, server, options)))
}

async function run(environment: Environment, text: string, options: Options): Promise<void> {
  const url = parseServer(text)
  const key = await readKey(environment, url, options)
  const api = createApi({ url, key }, openRetries(printNotice))
  const account = await api.account().catch((error) => {
    if (isAnswer(error, 401)) throw new ClientError(`${url} does not know this API key.`)
    throw error
  })
  await openLogins(environment).keep(url, {
    api_key: key,
    username: account.username,
    account_id: account.id,
  })
  printLines(`Logged in to ${url} as ${account.username}.`)
}

async function readKey(environment: Environment, url: string, options: Options): Promise<string> {
  const key = await typedKey(environment, url, options)
  if (/^[\x21-\x7e]+$/.test(key)) return key
  throw new ClientError('that is no API key; keys begin with hf_.')
}

async function typedKey(environment: Environment, url: string, { keyStdin }: Options): Promise<string> {
  if (keyStdin) return readSecretLine()
  const given = environment[clientVariables.apiKey]
  if (given) return given
  if (isInteractive()) return (await promptSecret(`API key for ${url}: `)).trim()
  throw new ClientError(
    `no key: set ${clientVariables.apiKey}, or give it on standard input with --key-stdin.`,
  )
}

/** The key remains valid. */
export function logoutCommand(logout: Command, environment: Environment): void {
  logout
    .description('forget the API key of a server; to revoke it, use the site or "holdfast key revoke"')
    .argument('[server]', 'its address; without one, the server of the last login')
    .action((server: string | undefined) => asClient(() => runLogout(environment, server)))
}

async function runLogout(environment: Environment, text: string | undefined): Promise<void> {
  const logins = openLogins(environment)
  const url = text === undefined ? await logins.current() : parseServer(text)
  if (url === null || !(await logins.forget(url))) {
    throw new ClientError(
      url === null ? 'you are not logged in anywhere.' : `you are not logged in to ${url}.`,
    )
  }
  printLines(`Logged out of ${url}.`)
}
