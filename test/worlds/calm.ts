/** What must be true of a world once nothing fails any more. */

import { wrongSums } from '../../src/contents/sums.ts'
import { DAY, MINUTE } from '../../src/domain/clock.ts'
import { finishResumable } from './resumable-actions.ts'
import { repeatAlone } from './upload-actions.ts'
import type { World } from './world.ts'

const NOTING = 'note that the service runs'
/** Jobs by which things end that nobody uses. */
const ENDING = [
  NOTING,
  'give up unused uploads',
  'hide unused files',
  'empty bins',
  'purge unused files',
  'remove garbage',
]
/** Less than what counts as an outage. */
const A_WHILE = 55 * MINUTE
const WHILES_OF_AN_UPLOAD = 3
/** In which both clocks agree for so long that something may go for good. */
const WHILES_OF_TRUST = 28
const WHILES_OF_A_FILE = 54
/** Steps of jobs before the machine falls asleep in them. */
const STEPS_OF_JOBS = 25

/** All ends that was under way, nothing is left that nobody needs, and what is not used ends in its time and not before. */
export async function calm(world: World): Promise<void> {
  const { time, history, chance } = world
  history.say('calm')
  await world.untilIdle()
  // Garbage stays for a while, and one job feeds another.
  for (let round = 0; round < 2; round++) await world.runJobs(3 * MINUTE)
  history.note(world.life.checks.leftOver(time.wall, true))
  world.life.start('sums', async () => {
    for await (const { lines } of wrongSums(world.life.database.db)) history.note(lines)
  })
  await world.untilIdle()
  if (chance.fraction() < 0.5) await finishes(world)
  const roll = chance.fraction()
  if (roll < 0.4) await sleeps(world)
  else if (roll < 0.47) await sleepsLater(world)
  else if (world.model.hasLeapt) return
  else await passes(world, roll < 0.5 ? WHILES_OF_A_FILE : WHILES_OF_AN_UPLOAD)
}

/** Callers finish what they have begun: whatever has happened, nothing of it is in the way. */
async function finishes(world: World): Promise<void> {
  const { model } = world
  for (const known of model.uploads.filter(({ isOver }) => !isOver)) {
    world.act('finish a resumable upload', (stage) => finishResumable(stage, known))
    await world.untilIdle()
  }
  if (model.hasLeapt) return
  for (const keyed of model.keyed.filter(({ file }) => !model.isLeaving(file.by))) {
    world.act('send a request again', (stage) => repeatAlone(stage, keyed))
    await world.untilIdle()
  }
}

/** The machine sleeps in the middle of jobs, for longer than everything lasts: nothing has ended when it wakes up. */
async function sleeps(world: World): Promise<void> {
  const { history, time, chance } = world
  const before = world.life.checks.openUploads()
  for (const name of ENDING) world.life.startJob(name)
  await world.goOn(chance.whole(0, STEPS_OF_JOBS))
  history.say('the machine sleeps')
  time.wall += 46 * DAY
  await world.untilIdle()
  await world.runJobs(0, ENDING)
  const after = new Set(world.life.checks.openUploads())
  history.note(
    before.filter((key) => !after.has(key)).map((key) => `the upload of ${key} has ended in its sleep`),
  )
}

/** The same after a day in which the clock was right, so that it is trusted. */
async function sleepsLater(world: World): Promise<void> {
  const trusting = [NOTING, 'hide unused files']
  for (let round = 0; round < WHILES_OF_TRUST; round++) await world.runJobs(A_WHILE, trusting)
  await world.runJobs(0, ENDING)
  await sleeps(world)
}

/** So much time passes while nobody uses anything. */
async function passes(world: World, whiles: number): Promise<void> {
  const { history, time, model } = world
  const isLong = whiles === WHILES_OF_A_FILE
  if (isLong) {
    for (const file of model.files.values()) Object.assign(file, { mayBeGone: true, entry: null })
  }
  // The bytes of what ends go one round later.
  for (let round = 0; round <= whiles; round++) await world.runJobs(A_WHILE, ENDING)
  history.note(world.life.checks.leftOver(time.wall, false))
  if (!isLong) return
  await world.runJobs(0)
  history.note(world.life.checks.leavingAccounts().map((name) => `${name} is left`))
  history.note(world.life.checks.visibleFiles().map((name) => `${name} was not used for days and is there`))
  history.note(world.life.checks.binned().map((id) => `entry ${id} of a bin was there for days and is there`))
}
