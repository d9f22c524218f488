import { fstatSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import type { Environment } from '../config/environment.ts'

/** Value of `LAUNCHED_AS` in the container image, in place of the launcher's path. */
const IMAGE = 'image'
const LAUNCHER_IN_PACKAGE = /\/bin\/holdfast\.js$/
const PLAIN_PATH = /^[\w./-]+$/

export interface Launch {
  /** `LAUNCHED_AS`: the path of the launcher, or the image's value; undefined without either. */
  readonly launchedAs: string | undefined
  readonly isService: boolean
  readonly folder: string
}

/** Distinguishes a systemd service from a process started within one, such as a desktop session. */
export interface Process {
  readonly environment: Environment
  /** Of this process and of the launcher, its parent. */
  readonly pids: readonly number[]
  /** Device and inode of standard output and error, in the format of `JOURNAL_STREAM`. */
  readonly streams: readonly string[]
}

/**
 * Whether systemd has started this process itself. Children of a service inherit its variables, so `INVOCATION_ID` is
 * not sufficient: the process named by systemd must be this one, or the journal's stream must be its own
 * (systemd.exec(5)).
 */
export function isService({ environment, pids, streams }: Process): boolean {
  if (environment.INVOCATION_ID === undefined) return false
  const { SYSTEMD_EXEC_PID: started, JOURNAL_STREAM: journal } = environment
  if (started !== undefined) return pids.includes(Number(started))
  return journal !== undefined && streams.includes(journal)
}

export function thisProcess(environment: Environment): Process {
  return { environment, pids: [process.pid, process.ppid], streams: [1, 2].flatMap(streamOf) }
}

/** Empty for a closed stream. */
function streamOf(descriptor: number): string[] {
  try {
    const { dev, ino } = fstatSync(descriptor, { bigint: true })
    return [`${dev}:${ino}`]
  } catch {
    return []
  }
}

/** The prefix for running other commands of this installation on the same data, from the current folder. */
export function ownCommand({ launchedAs, isService, folder }: Launch): string {
  if (launchedAs === IMAGE) return 'docker exec <container> holdfast'
  // deploy/holdfast-command runs with the user and the settings of the service.
  if (isService) return 'sudo holdfast'
  if (launchedAs === undefined) return 'holdfast'
  if (dirname(launchedAs).endsWith('/node_modules/.bin')) return 'npx holdfast'
  if (!LAUNCHER_IN_PACKAGE.test(launchedAs)) return basename(launchedAs)
  if (dirname(dirname(launchedAs)) === folder) return 'npx holdfast'
  return `node ${PLAIN_PATH.test(launchedAs) ? launchedAs : `'${launchedAs.replaceAll("'", "'\\''")}'`}`
}
