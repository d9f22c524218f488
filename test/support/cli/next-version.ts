/** The command line of the sources, as a program of the next version. */
import { run } from '../../../src/cli/program.ts'
import { withNextVersion } from '../databases/next-version.ts'

withNextVersion()
process.exitCode = await run(process.argv.slice(2), process.env)
