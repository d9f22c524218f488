import { basename, dirname } from 'node:path'

/** What the image sets in place of the launcher's path. */
const IMAGE = 'image'
const LAUNCHER_IN_PACKAGE = /\/bin\/holdfast\.js$/
const PLAIN_PATH = /^[\w./-]+$/

/** How this process was started. */
export interface Launch {
  /** `LAUNCHED_AS`: the path under which the launcher was called, or what the image says; absent without either. */
  readonly launchedAs: string | undefined
  /** `INVOCATION_ID`, which systemd gives to every service. */
  readonly invocationId: string | undefined
  /** Whether a person sees the output. Shells on a desktop inherit an `INVOCATION_ID` too. */
  readonly terminal: boolean
  /** The working folder. */
  readonly folder: string
}

/** What people type, in the same folder, to run another command of the same installation on the same data. */
export function ownCommand({ launchedAs, invocationId, terminal, folder }: Launch): string {
  if (launchedAs === IMAGE) return 'docker exec <container> holdfast'
  // As installed by deploy/holdfast-command, which takes the user and the settings of the service.
  if (invocationId !== undefined && !terminal) return 'sudo holdfast'
  if (launchedAs === undefined) return 'holdfast'
  if (dirname(launchedAs).endsWith('/node_modules/.bin')) return 'npx holdfast'
  if (!LAUNCHER_IN_PACKAGE.test(launchedAs)) return basename(launchedAs)
  if (dirname(dirname(launchedAs)) === folder) return 'npx holdfast'
  return `node ${PLAIN_PATH.test(launchedAs) ? launchedAs : `'${launchedAs.replaceAll("'", "'\\''")}'`}`
}
