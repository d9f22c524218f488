import type { Config } from '../config.ts'
import type { Core } from '../core/core.ts'
import type { Job } from '../core/jobs/jobs.ts'
import { noSecondCopies, type SecondCopies } from '../core/store/store-health.ts'
import { MINUTE, SECOND } from '../domain/clock.ts'
import type { BlobId } from '../domain/ids.ts'
import { settings } from '../settings.ts'
import {
  type ChildEnvironment,
  placeEnvironment,
  runChildCommand,
  storageEnvironment,
  withoutSettings,
} from './child-command.ts'
import { findContent } from './contents.rows.ts'
import { markFound } from './damage.ts'
import { mirroredContent } from './mirror.rows.ts'
import { isLookDue, MirrorUnusable } from './mirror-place.ts'
import { isReadingDue } from './mirror-reading.ts'
import { needsMirrorSync } from './mirror-sync.ts'
import { confirmed, isDamagedBlob, sizeDamage } from './reading.ts'

export const MIRROR_JOB = 'keep the mirror'

/** Runs the mirror command in a child process: the server itself never touches the second store. */
export function mirrorJobs({ db, clock, config, log }: Core): readonly Job[] {
  const { mirror } = config
  if (mirror === null) return []
  const tell = (line: string) => log.warn({ said: line }, 'the mirror is kept')
  return [
    {
      name: MIRROR_JOB,
      on: 'one node',
      every: MINUTE,
      async run(mayGoOn) {
        const now = clock.now()
        const isToDo = (await needsMirrorSync(db, clock)) || (await isLookDue(db, now))
        if (isToDo || (await isReadingDue(db, mirror, now))) await runMirrorProcess(config, tell, mayGoOn)
      },
    },
  ]
}

/** No marking for this long after a failure. */
const RESTS = 10 * SECOND

/** Downloads mark damaged contents, one at a time; the job repairs them from the mirror. */
export function mirrorCopies(core: Core): SecondCopies {
  const { db, blobs, clock, config, failed } = core
  if (config.mirror === null) return noSecondCopies
  const report = failed('a damaged content could not be marked')
  let isMarking = false
  let restsUntil = Number.NEGATIVE_INFINITY

  async function mark(id: BlobId): Promise<void> {
    const content = await findContent(db, id)
    if (content === undefined) return
    const seen = await confirmed(core, content, (row) => sizeDamage(blobs, row))
    if (isDamagedBlob(seen)) await markFound(core, seen)
  }

  return {
    async repair(id) {
      try {
        const content = await mirroredContent(db, id)
        if (content === undefined) return false
        if (content.damage !== null) return true
        if (clock.monotonic() < restsUntil) return false
        // A later request marks this one.
        if (isMarking) return true
        isMarking = true
        await mark(id).finally(() => {
          isMarking = false
        })
        return true
      } catch (error) {
        restsUntil = clock.monotonic() + RESTS
        report(error)
        return false
      }
    },
  }
}

/** The process works on one content at a time. */
const CONNECTIONS = 2

/** Ends with the process, or soon after `mayGoOn` returned false. Throws MirrorUnusable for a failure. */
async function runMirrorProcess(
  config: Config,
  tell: (line: string) => void,
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
