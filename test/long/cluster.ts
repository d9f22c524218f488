/** Every file that can run on PostgreSQL and S3, also those that `npm run test:all` leaves to SQLite and a folder. */
import { join } from 'node:path'

export async function everythingOnTheCluster(runs: number): Promise<string> {
  for (let run = 1; run <= runs; run++) {
    const child = Bun.spawn([process.execPath, join(import.meta.dir, '../run.ts'), '--all'], {
      env: { ...process.env, HOLDFAST_TEST_PAIR: 'cluster' },
      stdio: ['ignore', 'inherit', 'inherit'],
    })
    const code = await child.exited
    if (code !== 0) throw new Error(`run ${run} ended with ${code}`)
  }
  return `${runs} passed`
}
