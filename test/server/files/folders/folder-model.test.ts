import { expect, test } from 'bun:test'
import fc from 'fast-check'
import type { ErrorCode } from '../../../../src/domain/errors.ts'
import { runsOf } from '../../../support/cases.ts'
import { type Api, newcomer, refusal } from '../../../support/clients/api.ts'
import { filesIn, flaws, readTree } from '../../../support/clients/folder-tree.ts'
import { type FolderModel, folderModel } from '../../../support/contents/folder-model.ts'
import { onCluster } from '../../../support/servers/holdfast.ts'
import { hostOfFile } from '../../../support/servers/owned-host.ts'

/** Low, so that random trees reach it. */
const MAX_DEPTH = 3

// A failure prints the seed; the same one in this variable repeats the whole run.
const SEED = process.env.HOLDFAST_TEST_FOLDER_SEED

// The long tier walks many more. On three nodes each step takes much longer, and is done by the same queries.
const WALKS = Number(process.env.HOLDFAST_TEST_FOLDER_WALKS ?? runsOf(onCluster ? 8 : 25))

/** Milliseconds. */
const PATIENCE = 30_000 + WALKS * 10_000

const holdfast = await hostOfFile({ maxFolderDepth: MAX_DEPTH, rateLimit: 1_000_000 })

/** Folders and files are numbers here, which become some folder or file that exists, or none, when the step is run. */
type Step =
  | { readonly kind: 'create'; readonly name: string; readonly parent: number }
  | { readonly kind: 'rename'; readonly folder: number; readonly name: string }
  | { readonly kind: 'move'; readonly folder: number; readonly parent: number }
  | { readonly kind: 'move all'; readonly folders: readonly number[]; readonly parent: number }
  | { readonly kind: 'delete'; readonly folders: readonly number[] }
  | { readonly kind: 'upload'; readonly size: number; readonly folder: number }
  | { readonly kind: 'move file'; readonly file: number; readonly folder: number }
  | { readonly kind: 'move files'; readonly files: readonly number[]; readonly folder: number }
  | { readonly kind: 'delete files'; readonly files: readonly number[] }

const some = fc.noBias(fc.nat({ max: 10_000 }))
const several = fc.array(some, { minLength: 1, maxLength: 4 })
const name = fc.constantFrom('a', 'b', 'c', 'd')

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 9, arbitrary: fc.record({ kind: fc.constant('create' as const), name, parent: some }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('rename' as const), folder: some, name }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('move' as const), folder: some, parent: some }) },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant('move all' as const), folders: several, parent: some }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('delete' as const), folders: several }) },
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant('upload' as const), size: fc.nat({ max: 2000 }), folder: some }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('move file' as const), file: some, folder: some }) },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('move files' as const), files: several, folder: some }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('delete files' as const), files: several }) },
)

/** A caller, what its account should hold, and identifiers that are not its own: unknown, foreign, or deleted since. */
interface Run {
  readonly caller: Api
  readonly model: FolderModel
  readonly noFolders: string[]
  readonly noFiles: string[]
}

test(
  'any steps on folders and files lead where a plain model says, step by step',
  async () => {
    const neighbour = await newcomer(holdfast)
    const foreignFolder = await neighbour.folder('theirs')
    const foreignFile = await neighbour.put('theirs', { folder: foreignFolder })
    const before = await readTree(neighbour)

    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 20, maxLength: 40, size: 'max' }), async (steps) => {
        const run: Run = {
          caller: await newcomer(holdfast),
          model: folderModel(MAX_DEPTH),
          noFolders: ['aaaaaaaaaaaaaaaa', foreignFolder],
          noFiles: ['Aaaaaaaaaaaa', foreignFile.slug],
        }
        for (const each of steps) {
          await take(run, each)
          await compare(run)
        }
        await holdfast.runJobs()
        await compare(run)
        for (const place of ['root', ...run.model.folders.keys()]) {
          const inside = [...run.model.files].filter(([, file]) => file.folder === place)
          expect((await filesIn(run.caller, place)).sort()).toEqual(inside.map(([slug]) => slug).sort())
        }
      }),
      {
        numRuns: WALKS,
        // Making a failure smaller takes runs too; the smallest one found by then is shown.
        interruptAfterTimeLimit: PATIENCE,
        ...(SEED === undefined ? {} : { seed: Number(SEED) }),
      },
    )
    expect(await readTree(neighbour)).toEqual(before)
  },
  2 * PATIENCE,
)

async function compare({ caller, model }: Run): Promise<void> {
  const tree = await readTree(caller)
  expect(flaws(tree)).toEqual([])
  expect(new Map([...tree.folders].map(([id, { name, parent }]) => [id, { name, parent }]))).toEqual(
    new Map(model.folders),
  )
  expect(tree.files).toEqual(new Map(model.files))
}

async function take(run: Run, step: Step): Promise<void> {
  const { caller, model } = run
  switch (step.kind) {
    case 'create': {
      const parent = place(run, step.parent)
      const codes = model.createRefusals(step.name, parent)
      if (codes.length === 0) model.addFolder(await caller.folder(step.name, { parent }), step.name, parent)
      else expectRefused(codes, await caller.post('/api/v1/folder', { name: step.name, parent }))
      return
    }
    case 'rename': {
      const folder = folderAt(run, step.folder)
      const verdict = model.renameFolder(folder, step.name)
      const answer = await caller.patch(`/api/v1/folder/${folder}`, { name: step.name })
      if ('refused' in verdict) expectRefused(verdict.refused, answer)
      else expect(answer).toMatchObject({ status: 200, body: { data: { id: folder, name: step.name } } })
      return
    }
    case 'move': {
      const folder = folderAt(run, step.folder)
      const parent = place(run, step.parent)
      const verdict = model.moveFolder(folder, parent)
      const answer = await caller.post('/api/v1/folder/move', { folder, parent })
      if ('refused' in verdict) expectRefused(verdict.refused, answer)
      else {
        const data = { folder, parent, folders_updated: verdict.done }
        expect(answer).toMatchObject({ status: 200, body: { success: true, data } })
      }
      return
    }
    case 'move all':
      return moveAll(run, step.folders, step.parent)
    case 'delete':
      return deleteFolders(run, step.folders)
    case 'upload': {
      const folder = place(run, step.folder)
      const content = new Uint8Array(step.size).fill(model.files.size)
      if (model.isPlace(folder))
        model.addFile((await caller.put(content, { folder })).slug, step.size, folder)
      else expectRefused(['FOLDER_NOT_FOUND'], await caller.upload(content, { folder }))
      return
    }
    case 'move file': {
      const file = fileAt(run, step.file)
      const folder = place(run, step.folder)
      const verdict = model.moveFile(file, folder)
      const answer = await caller.post('/api/v1/file/move', { file, folder })
      if ('refused' in verdict) expectRefused(verdict.refused, answer)
      else expect(answer).toMatchObject({ status: 200, body: { success: true, data: { file, folder } } })
      return
    }
    case 'move files':
      return moveFiles(run, step.files, step.folder)
    case 'delete files':
      return deleteFiles(run, step.files)
  }
}

async function moveAll(run: Run, numbers: readonly number[], parentNumber: number): Promise<void> {
  const folders = numbers.map((number) => folderAt(run, number))
  const parent = place(run, parentNumber)
  const answer = await run.caller.post('/api/v1/folders/move', { folders, parent })
  if (!run.model.isPlace(parent)) return expectRefused(['FOLDER_NOT_FOUND'], answer)
  const results = folders.map((folder) => {
    const verdict = run.model.moveFolder(folder, parent)
    return 'refused' in verdict
      ? {
          folder,
          success: false,
          error: expect.stringMatching(new RegExp(`^(${verdict.refused.join('|')})$`)),
        }
      : { folder, success: true, folders_updated: verdict.done }
  })
  const failed = results.filter((result) => !result.success).length
  const data = { parent, moved: results.length - failed, failed, results }
  expect(answer).toMatchObject({ status: 200, body: { success: failed === 0, data } })
}

async function moveFiles(run: Run, numbers: readonly number[], folderNumber: number): Promise<void> {
  const files = numbers.map((number) => fileAt(run, number))
  const folder = place(run, folderNumber)
  const answer = await run.caller.post('/api/v1/files/move', { files, folder })
  if (!run.model.isPlace(folder)) return expectRefused(['FOLDER_NOT_FOUND'], answer)
  const results = files.map((file) => {
    const verdict = run.model.moveFile(file, folder)
    return 'refused' in verdict ? { file, success: false, error: 'FILE_NOT_FOUND' } : { file, success: true }
  })
  const failed = results.filter((result) => !result.success).length
  const data = { folder, moved: results.length - failed, failed, results }
  expect(answer).toMatchObject({ status: 200, body: { success: failed === 0, data } })
}

async function deleteFolders(run: Run, numbers: readonly number[]): Promise<void> {
  const identifiers = numbers.map((number) => folderAt(run, number))
  const total = new Set(identifiers).size
  const known = new Set(identifiers.filter((id) => run.model.folders.has(id))).size
  const answer = await run.caller.post('/folder/delete', { identifiers })
  const gone = [...new Set(identifiers)].map((id) => run.model.deleteFolder(id)).filter((it) => it !== null)
  run.noFolders.push(...gone.flatMap(({ folders }) => folders))

  const files = gone.reduce((sum, { files }) => sum + files, 0)
  expect(answer).toMatchObject({ status: 200, body: { total_processed: total, files_deleted: files } })
  // A folder that went with one named before it in the same request may count either way.
  const counts = Array.from({ length: known - gone.length + 1 }, (_, more) => gone.length + more).map(
    (done) => ({
      success: done === total,
      successful_deletes: done,
      failed_deletes: total - done,
    }),
  )
  expect(counts.some((each) => Bun.deepMatch(each, answer.body))).toBe(true)
}

async function deleteFiles(run: Run, numbers: readonly number[]): Promise<void> {
  const identifiers = numbers.map((number) => fileAt(run, number))
  const answer = await run.caller.post('/file/delete', { identifiers })
  const once = [...new Set(identifiers)]
  const gone = once.filter((slug) => run.model.deleteFile(slug))
  run.noFiles.push(...gone)
  expect(answer).toMatchObject({
    status: 200,
    body: {
      success: gone.length === once.length,
      total_processed: once.length,
      successful_deletes: gone.length,
      failed_deletes: once.length - gone.length,
      files_deleted: gone.length,
    },
  })
}

function expectRefused(codes: readonly ErrorCode[], answer: unknown): void {
  const [only, other = only] = codes
  if (only === undefined || other === undefined) throw new Error('a refusal needs a code')
  if (Bun.deepMatch({ body: { error: other } }, answer)) expect(answer).toMatchObject(refusal(other))
  else expect(answer).toMatchObject(refusal(only))
}

/** Some folder of the caller, now and then one that is not there. */
function folderAt({ model, noFolders }: Run, number: number): string {
  return oneOf([...model.folders.keys()], noFolders, number)
}

/** The top level or some folder. */
function place({ model, noFolders }: Run, number: number): string {
  return oneOf(['root', ...model.folders.keys()], noFolders, number)
}

function fileAt({ model, noFiles }: Run, number: number): string {
  return oneOf([...model.files.keys()], noFiles, number)
}

/** One number in twelve, and every one where there is nothing else, means something that does not exist. */
function oneOf(there: readonly string[], missing: readonly string[], number: number): string {
  const choices = there.length === 0 || number % 12 === 11 ? missing : there
  const chosen = choices[Math.floor(number / 12) % choices.length]
  if (chosen === undefined) throw new Error('there is nothing to choose from')
  return chosen
}
