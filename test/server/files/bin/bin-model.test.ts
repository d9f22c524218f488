/** Any steps with the bin, against what each of them should do. */
import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { runsOf } from '../../../support/cases.ts'
import { type Api, newcomer } from '../../../support/clients/api.ts'
import { binOf, intoBin, totals } from '../../../support/clients/bin.ts'
import { flaws, readTree, type Tree } from '../../../support/clients/folder-tree.ts'
import { hostOfFile } from '../../../support/servers/owned-host.ts'
import { unsoundTotals } from '../../../support/storage/soundness.ts'

// A failure prints the seed; the same one in this variable repeats the whole run.
const SEED = process.env.HOLDFAST_TEST_BIN_SEED

const holdfast = await hostOfFile({ rateLimit: 1_000_000 })

const kinds = [
  'folder',
  'folder',
  'folder',
  'upload',
  'upload',
  'move folder',
  'bin folder',
  'bin folder',
  'bin file',
  'restore',
  'restore',
  'restore elsewhere',
  'delete folder',
  'delete from bin',
  'empty',
  'jobs',
] as const

/** The numbers become some folder, file or entry that exists when the step is taken. */
interface Step {
  readonly kind: (typeof kinds)[number]
  readonly one: number
  readonly other: number
}

const number = fc.noBias(fc.nat({ max: 10_000 }))
const step: fc.Arbitrary<Step> = fc.record({ kind: fc.constantFrom(...kinds), one: number, other: number })

interface Run {
  readonly caller: Api
  /** Which files should be there, with their sizes. */
  readonly alive: Map<string, number>
  /** The files of each entry of the bin. */
  readonly binned: Map<number, ReadonlyMap<string, number>>
}

test('whatever is put into the bin, restored and deleted, the rest and all totals are as they should be', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 15, maxLength: 30, size: 'max' }), async (steps) => {
      const run: Run = { caller: await newcomer(holdfast), alive: new Map(), binned: new Map() }
      for (const each of steps) {
        await take(run, each)
        await compare(run)
      }
      await holdfast.runJobs()
      await compare(run)
      expect(await unsoundTotals(holdfast.database)).toEqual([])
    }),
    {
      numRuns: runsOf(8),
      interruptAfterTimeLimit: 60_000,
      ...(SEED === undefined ? {} : { seed: Number(SEED) }),
    },
  )
}, 300_000)

async function compare({ caller, alive, binned }: Run): Promise<void> {
  const tree = await readTree(caller)
  expect(flaws(tree)).toEqual([])
  expect(new Map([...tree.files].map(([slug, { size }]) => [slug, size]))).toEqual(alive)
  const entries = (await binOf(caller)).map(({ id, files, size }) => ({ id, files, size }))
  const expected = [...binned].map(([id, files]) => ({ id, files: files.size, size: sum(files) })).reverse()
  expect(entries).toEqual(expected)
  const inBin = expected.reduce((bytes, { size }) => bytes + size, 0)
  expect(await totals(caller)).toMatchObject({ storage_used: sum(alive) + inBin, storage_in_bin: inBin })
}

const sum = (files: ReadonlyMap<string, number>) => [...files.values()].reduce((all, size) => all + size, 0)

async function take({ caller, alive, binned }: Run, { kind, one, other }: Step): Promise<void> {
  const tree = await readTree(caller)
  const folder = pick([...tree.folders.keys()], one)
  const place = pick(['root', ...tree.folders.keys()], other) ?? 'root'
  const entry = pick([...binned.keys()], one)

  const leave = (files: ReadonlyMap<string, number>) => {
    for (const slug of files.keys()) alive.delete(slug)
  }
  const comeBack = async (more: object) => {
    if (entry === undefined) return
    const { body } = await caller.post('/api/v1/bin/restore', { entries: [entry], ...more })
    // A file does not leave a private folder that is gone, and there are none here.
    expect(body).toMatchObject({ success: true })
    for (const [slug, size] of binned.get(entry) ?? []) alive.set(slug, size)
    binned.delete(entry)
  }

  switch (kind) {
    case 'folder':
      await caller.post('/api/v1/folder', { name: `f${one % 3}`, parent: place })
      return
    case 'upload': {
      const { slug, size } = await caller.put('x'.repeat(one % 2000), { folder: place })
      alive.set(slug, size)
      return
    }
    case 'move folder':
      await caller.post('/api/v1/folder/move', { folder: folder ?? 'nothing', parent: place })
      return
    case 'bin folder': {
      if (folder === undefined) return
      const [id = 0] = await intoBin(caller, { folders: [folder] })
      binned.set(id, filesBelow(tree, folder))
      leave(filesBelow(tree, folder))
      return
    }
    case 'bin file': {
      const file = pick([...alive.keys()], one)
      if (file === undefined) return
      const [id = 0] = await intoBin(caller, { files: [file] })
      binned.set(id, new Map([[file, alive.get(file) ?? 0]]))
      alive.delete(file)
      return
    }
    case 'restore':
      return comeBack({})
    case 'restore elsewhere':
      return comeBack({ folder: place })
    case 'delete folder':
      if (folder === undefined) return
      await caller.post('/folder/delete', { identifiers: [folder] })
      leave(filesBelow(tree, folder))
      return
    case 'delete from bin':
      if (entry === undefined) return
      await caller.post('/api/v1/bin/delete', { entries: [entry] })
      binned.delete(entry)
      return
    case 'empty':
      if (one % 3 > 0) return
      await caller.send('/api/v1/bin', { method: 'DELETE' })
      binned.clear()
      return
    case 'jobs':
      await holdfast.runJobs()
      return
  }
}

function pick<T>(choices: readonly T[], number: number): T | undefined {
  return choices[number % choices.length]
}

/** The files in the folder and in all below it, with their sizes. */
function filesBelow(tree: Tree, folder: string): Map<string, number> {
  const isBelow = (place: string | undefined): boolean =>
    place !== undefined && (place === folder || isBelow(tree.folders.get(place)?.parent))
  return new Map(
    [...tree.files].filter(([, file]) => isBelow(file.folder)).map(([slug, { size }]) => [slug, size]),
  )
}
