import { Command, CommanderError } from 'commander'
import manifest from '../../package.json' with { type: 'json' }
import type { Environment } from '../config/environment.ts'
import { Refusal } from '../domain/errors.ts'
import { versionWithCommit } from '../program/version.ts'
import { accountCommand } from './account.ts'
import { adminCommand } from './admin.ts'
import { completionCommand } from './completion.ts'
import { configCommand } from './config.ts'
import { downloadCommand } from './download.ts'
import { withEnvFile, withNamedFile } from './env-file.ts'
import { explain, ProblemsFound } from './failure.ts'
import { listCommand, makeFolderCommand, moveCommand, removeCommand, searchCommand } from './files.ts'
import { infoCommand } from './info.ts'
import { keyCommand } from './key.ts'
import { linksCommand } from './links/links.ts'
import { receiptCommand } from './links/receipt.ts'
import { receiveCommand } from './links/receive.ts'
import { requestCommand } from './links/request.ts'
import { shareCommand } from './links/share.ts'
import { webhooksCommand } from './links/webhooks.ts'
import { loginCommand, logoutCommand } from './login.ts'
import { mailCommand } from './mail.ts'
import { backupCommand } from './maintenance/backup.ts'
import { checkCommand } from './maintenance/check.ts'
import { doctorCommand } from './maintenance/doctor.ts'
import { drillCommand } from './maintenance/drill.ts'
import { mirrorCommand } from './maintenance/mirror.ts'
import { restoreCommand } from './maintenance/restore.ts'
import { migrateCommand } from './migrate.ts'
import { printProblem } from './output.ts'
import { relocateCommand } from './relocate.ts'
import { reportCommand } from './report.ts'
import { secretCommand } from './secret.ts'
import { interrupted } from './stop-signal.ts'
import { takeOverCommand } from './takeover.ts'
import { uploadCommand } from './upload.ts'

const SUCCESS = 0
const FAILURE = 1
const WRONG_USE = 2
const FAULTS_FOUND = 3

const ENV_FILE = '--env-file'
const ENV_FILE_IS = `${ENV_FILE}=`

type Configure = (command: Command, environment: Environment, holdfast: Command) => void

const SERVER_COMMANDS: Readonly<Record<string, Configure>> = {
  serve: serveCommand,
  account: accountCommand,
  admin: adminCommand,
  key: keyCommand,
  report: reportCommand,
  migrate: migrateCommand,
  backup: backupCommand,
  restore: restoreCommand,
  drill: drillCommand,
  mirror: mirrorCommand,
  check: checkCommand,
  doctor: doctorCommand,
  relocate: relocateCommand,
  mail: mailCommand,
  secret: secretCommand,
  takeover: takeOverCommand,
  config: configCommand,
  completion: (command, _environment, holdfast) => completionCommand(command, holdfast),
}

/** They ignore `.env`: they run in any folder, whose `.env` was not written for them. */
const CLIENT_COMMANDS: Readonly<Record<string, Configure>> = {
  login: loginCommand,
  logout: logoutCommand,
  upload: uploadCommand,
  download: downloadCommand,
  ls: listCommand,
  mkdir: makeFolderCommand,
  mv: moveCommand,
  rm: removeCommand,
  info: infoCommand,
  search: searchCommand,
  share: shareCommand,
  request: requestCommand,
  receive: receiveCommand,
  links: linksCommand,
  receipt: receiptCommand,
  webhooks: webhooksCommand,
}

const COMMANDS = { 'A server of your own:': SERVER_COMMANDS, 'Files on a server:': CLIENT_COMMANDS }

/** Client commands, and those that need no server. */
function isClient(word: string): boolean {
  return Object.hasOwn(CLIENT_COMMANDS, word) || word === 'put' || word === 'completion'
}

/**
 * Runs one command line. For server commands `.env` is merged into the environment, which libraries read too. Returns
 * the exit code: 0 for success, 2 for wrong usage, 3 when a check has found faults, 1 for any other failure, and 128
 * plus its number for a signal.
 */
export async function run(words: readonly string[], environment: Environment): Promise<number> {
  try {
    const { path, rest } = namedEnvFile(words)
    if (namesEnvFileLater(rest)) {
      printProblem(
        `error: ${ENV_FILE} stands once, and before the command: holdfast ${ENV_FILE} <path> <command>`,
      )
      return WRONG_USE
    }
    outliveReaders(rest[0] ?? '')
    if (path !== null) Object.assign(environment, withNamedFile(environment, path))
    else if (!isClient(rest[0] ?? '')) Object.assign(environment, withEnvFile(environment, process.cwd()))
    await program(environment, rest[0]).parseAsync(rest, { from: 'user' })
    return SUCCESS
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? SUCCESS : WRONG_USE
    if (error instanceof ProblemsFound) return FAULTS_FOUND
    const interruption = interrupted()
    if (interruption === null || !isStop(error)) printProblem(`error: ${explain(error, environment)}`)
    if (interruption === null) return FAILURE
    printProblem(`error: ${interruption.says}`)
    return interruption.code
  }
}

/** Some calls throw AbortError instead of the signal's reason. */
function isStop(error: unknown): boolean {
  if (error instanceof Refusal) return error.code === 'SHUTTING_DOWN'
  return error instanceof Error && error.name === 'AbortError'
}

/** A reader that stops early (`head`) is no failure: client commands end, server commands finish. */
function outliveReaders(command: string): void {
  process.stdout.on('error', () => {
    if (isClient(command)) process.exit(process.exitCode ?? SUCCESS)
  })
  process.stderr.on('error', () => {})
}

/** A leading `--env-file`: settings must be known before commands are built. */
function namedEnvFile(words: readonly string[]): { path: string | null; rest: readonly string[] } {
  const [first = '', second] = words
  if (first.startsWith(ENV_FILE_IS)) return { path: first.slice(ENV_FILE_IS.length), rest: words.slice(1) }
  if (first === ENV_FILE && second !== undefined) return { path: second, rest: words.slice(2) }
  return { path: null, rest: words }
}

/** Commander would accept it there, but the settings in the file would be ignored. */
function namesEnvFileLater(words: readonly string[]): boolean {
  const end = words.indexOf('--')
  return words
    .slice(0, end === -1 ? words.length : end)
    .some((word) => word === ENV_FILE || word.startsWith(ENV_FILE_IS))
}

function serveCommand(serve: Command, environment: Environment): void {
  serve.description('start the server; SIGTERM or Ctrl+C stops it').action(async () => {
    // Only the server needs these modules.
    const { serve: run } = await import('./serve.ts')
    await run(environment, versionWithCommit())
  })
}

/** Describing all commands takes a tenth of a short run, so a known first word builds only its own. */
function program(environment: Environment, word = ''): Command {
  const holdfast = new Command('holdfast')
    .description(manifest.description)
    .version(versionWithCommit(), '-V, --version', 'print the version, with the commit where it is known')
    .option(
      `${ENV_FILE} <path>`,
      'read settings from this file instead of .env; must come before the command',
    )
    .helpOption('-h, --help', 'print help for the command')
    .helpCommand('help [command]', 'print help for a command')
    .addHelpText(
      'after',
      '\nSettings come from the environment, or from .env or the file of --env-file; "holdfast config" lists them.',
    )
    .exitOverride()
    .showHelpAfterError('Run it with --help to see how it is used.')
  const isOne =
    word !== 'completion' && Object.values(COMMANDS).some((commands) => Object.hasOwn(commands, word))
  for (const [group, commands] of Object.entries(COMMANDS)) {
    holdfast.commandsGroup(group)
    for (const [name, configure] of Object.entries(commands)) {
      if (!isOne || name === word) configure(holdfast.command(name), environment, holdfast)
    }
  }
  return holdfast
}
