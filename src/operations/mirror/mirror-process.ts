/** Runs `holdfast mirror --now` for the server in a child process. */
import type { Config } from '../../config.ts'
import { settings } from '../../settings.ts'
import {
  type ChildEnvironment,
  placeEnvironment,
  runChildCommand,
  storageEnvironment,
  withoutSettings,
} from '../child-command.ts'
import { MirrorUnusable } from './mirror-store.ts'

/** It works on one content at a time. */
const CONNECTIONS = 2

interface MirrorProcess {
  readonly config: Config
  readonly tell: (line: string) => void
}

/** Ends with the process, or soon after `mayGoOn` returned false. Throws MirrorUnusable for a failure. */
export async function runMirrorProcess(
  { config, tell }: MirrorProcess,
  mayGoOn: () => boolean,
): Promise<void> {
  const words = ['mirror', '--now', '--for-server']
  const end = await runChildCommand({ words, env: environmentOf(config, process.env), tell }, mayGoOn)
  if (end === null || end.code === 0) return
  throw new MirrorUnusable(end.failure || `the process that keeps the mirror ended with ${end.code}`)
}

/** The process needs these settings and no other secret, beside what this one inherited. */
function environmentOf(config: Config, inherited: ChildEnvironment): ChildEnvironment {
  const { mirror } = config
  return {
    ...withoutSettings(inherited),
    ...storageEnvironment(config, CONNECTIONS),
    [settings.scrubRate.variable]: String(config.scrubRate),
    ...(mirror === null
      ? {}
      : {
          [settings.mirrorRate.variable]: String(mirror.rate),
          [settings.mirrorScrubDays.variable]: String(mirror.scrubDays),
          ...placeEnvironment('mirror', mirror.place),
        }),
  }
}
