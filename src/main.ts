import { run } from './cli/program.ts'

// React is slow and chatty unless it is told, before it is loaded, that this is no development.
process.env.NODE_ENV ??= 'production'

// A reader that has seen enough, such as `head`, is no failure.
process.stdout.on('error', () => process.exit(0))

process.exitCode = await run(process.argv.slice(2), process.env)
