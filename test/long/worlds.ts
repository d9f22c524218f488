import { runWorlds } from '../worlds/worlds.ts'

const REPORT_EVERY = 500

/** So many worlds from the first number on. */
export async function seededWorlds(worlds: number, first = 1): Promise<string> {
  const figures = await runWorlds({ worlds, first }, (done) => {
    if (done % REPORT_EVERY === 0) console.log(`worlds: ${done} of ${worlds}`)
  })
  return JSON.stringify(figures)
}
