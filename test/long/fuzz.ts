/** Odd text for each parser, and odd requests to a real server. */
import { join } from 'node:path'
import { runProgram } from '../support/processes/program.ts'

const REPOSITORY = join(import.meta.dir, '../..')
/** Milliseconds. */
const A_DAY = 86_400_000

export async function fuzz(cases: number): Promise<string> {
  const { code, output, errors } = await runProgram(
    [process.execPath, 'test', '--timeout', String(A_DAY), 'test/fuzz'],
    { cwd: REPOSITORY, env: { ...process.env, HOLDFAST_TEST_FUZZ_CASES: String(cases) } },
  )
  if (code !== 0) throw new Error(`${output}\n${errors}`)
  const told = output.split('\n').filter((line) => line.startsWith('fuzz: '))
  return `${cases} of each; ${told.join(', ')}`
}
