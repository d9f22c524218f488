import { join } from 'node:path'
import { bundledEntry } from './program/bundle.ts'

const program = bundledEntry(join(import.meta.dir, '..'), 'cli/program') ?? './cli/program.ts'
const { run }: typeof import('./cli/program.ts') = await import(program)
process.exitCode = await run(process.argv.slice(2), process.env)
