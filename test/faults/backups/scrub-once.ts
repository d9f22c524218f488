/** Reads stored bytes again, as the job of a server does, of the data folder in the environment. */
import { loadConfig } from '../../../src/config.ts'
import { scrub } from '../../../src/contents/scrub.ts'
import { systemClock } from '../../../src/domain/clock.ts'
import { systemRandom } from '../../../src/domain/random.ts'
import { createLog } from '../../../src/log.ts'
import { openBlobs, openDatabase } from '../../../src/storage.ts'

const config = loadConfig(process.env)
const parts = { config, clock: systemClock, random: systemRandom, report() {} }
const database = await openDatabase(parts)
const log = createLog('silent', { terminal: false })
const diskLoad = { quiet: async () => true }
try {
  await scrub({ ...parts, ...database, blobs: await openBlobs(parts, false), log, diskLoad }, () => true)
} finally {
  await database.close()
}
