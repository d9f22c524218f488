import type { Config } from '../../config.ts'
import { stateName } from '../../contents/mark-copies.ts'
import { MIRROR_JOB } from '../../contents/mirror.job.ts'
import { attachedMirror, mirrorLag } from '../../contents/mirror-place.ts'
import type { Database } from '../../database/database.ts'
import { type Clock, HOUR } from '../../domain/clock.ts'
import type { BackgroundJobs } from '../background-jobs.ts'
import { type Finding, fine, problem, say } from './findings.ts'

const CHECK = 'mirror'

/** Asks the database only, since an unreachable mirror may hang for minutes. */
export async function checkMirror(
  { db, config, clock }: { readonly db: Database; readonly config: Config; readonly clock: Clock },
  jobs: Pick<BackgroundJobs, 'list'>,
): Promise<Finding> {
  if (config.mirror === null) return fine(CHECK, say`no mirror is configured`)
  const waited = await mirrorLag(db, clock.now())
  const job = (await jobs.list()).find(({ name }) => name === MIRROR_JOB)
  const failure = job?.failure ?? null
  if (waited <= HOUR && failure === null) {
    const attached = await attachedMirror(db)
    if (attached === null) return fine(CHECK, say`the mirror keeps up`)
    return fine(CHECK, say`the mirror keeps up; its mark is ${stateName(attached)}`)
  }
  const what =
    failure === null
      ? say`a content has waited ${Math.round(waited / HOUR)} h for its copy in the mirror`
      : say`${failure}`
  const why = say`Contents that have no copy there cannot be brought back when their bytes are damaged.`
  return problem(CHECK, what, why, [{ where: 'shell', line: 'holdfast mirror --now' }])
}
