/** Many random walks over folders and files, each step of which is compared with a plain model, on both pairs. */
import { join } from 'node:path'

const REPOSITORY = join(import.meta.dir, '../..')

export async function folderWalks(walks: number): Promise<string> {
  const tests = Bun.spawn([process.execPath, 'test/run.ts', 'test/http/folder-model.test.ts'], {
    cwd: REPOSITORY,
    env: { ...process.env, HOLDFAST_TEST_FOLDER_WALKS: String(walks) },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'inherit',
  })
  const output = await new Response(tests.stdout).text()
  const figures = output.trim().split('\n').at(-1) ?? ''
  if ((await tests.exited) !== 0) throw new Error(output)
  return `${figures}, ${walks} walks in each`
}
