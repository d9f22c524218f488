/** A server whose backups a test makes, and places for them. */
import { expect } from 'bun:test'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type * as z from 'zod'
import { openDiskBlobs } from '../../../src/blobs/disk.ts'
import {
  type Catalog,
  CatalogReader,
  type FoundCatalog,
  sealCatalog,
} from '../../../src/contents/backup-catalog.ts'
import { systemRandom } from '../../../src/domain/random.ts'
import { temporaryFolder } from '../processes/child.ts'
import type { TestHoldfast } from '../servers/holdfast.ts'
import { checked, doneIn, environmentOf, made, restored, runIn, type Settings } from './commands.ts'

/** `host` is asked for when it is used, since it starts after the tests are read. */
export function backupsOf(host: () => TestHoldfast) {
  const folder = temporaryFolder()
  let places = 0
  /** A path where nothing is yet. */
  const newPlace = () => join(folder.path, String(++places))
  const run = (words: readonly string[], settings: Settings = environmentOf(host().config)) =>
    runIn(folder.path, words, settings)
  const done = <T>(words: readonly string[], shape: z.ZodType<T>, settings?: Settings) =>
    doneIn(folder.path, words, shape, settings ?? environmentOf(host().config))
  const backUp = (target: string, ...more: string[]) => done(['backup', target, ...more], made)

  /** Restores into a new data folder, which has to be sound. */
  async function restoredFrom(target: string, settings: Settings = {}, ...more: string[]): Promise<string> {
    const place = newPlace()
    const its = { ...settings, HOLDFAST_DATA_DIR: place }
    await done(['restore', target, ...more], restored, its)
    const sound = await done(['check', '--read-data'], checked, its)
    expect(sound).toMatchObject({ damaged: [], orphans: [], sums: [] })
    return place
  }
  return { folder, newPlace, run, done, backUp, restoredFrom }
}

/** The catalog in a folder, as it is now. */
export async function catalogOf(target: string, passphrase: string | null = null): Promise<FoundCatalog> {
  const store = await openDiskBlobs(target, systemRandom, { alone: false })
  const found = await new CatalogReader(store, passphrase).read()
  if (found === null) throw new Error(`there is no catalog in ${target}`)
  return found
}

/** Writes both copies of a catalog that is not encrypted. */
export function writeCatalog(target: string, catalog: Catalog, lease: FoundCatalog['lease'] = null): void {
  writeFileSync(join(target, 'mark'), sealCatalog(catalog, null, lease))
  writeFileSync(join(target, 'mark-copy'), sealCatalog(catalog, null, null))
}

/** Every file of a backup with the bytes of a content. */
export function contentsOf(target: string): { path: string; bytes: Buffer }[] {
  const folders = readdirSync(target).filter((name) => /^[0-9a-f]{2}$/.test(name))
  return folders.flatMap((name) =>
    readdirSync(join(target, name)).map((key) => {
      const path = join(target, name, key)
      return { path, bytes: readFileSync(path) }
    }),
  )
}
