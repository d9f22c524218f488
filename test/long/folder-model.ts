/** Many random walks over folders and files, each step of which is compared with a plain model, on both pairs. */
import { join } from 'node:path'
import { runProgram } from '../support/processes/program.ts'

const REPOSITORY = join(import.meta.dir, '../..')

export async function folderWalks(walks: number): Promise<string> {
  const command = [process.execPath, 'test/run.ts', 'test/server/files/folders/folder-model.test.ts']
  const { code, output } = await runProgram(command, {
    cwd: REPOSITORY,
    env: { ...process.env, HOLDFAST_TEST_FOLDER_WALKS: String(walks) },
  })
  const figures = output.trim().split('\n').at(-1) ?? ''
  if (code !== 0) throw new Error(output)
  return `${figures}, ${walks} walks in each`
}
