/** What the callers of a world do: each action tells the model what it is about to do, and what it was answered. */
import type { AccountCaller, Caller, GuestCaller } from '../../src/core/callers.ts'
import { Refusal } from '../../src/domain/errors.ts'
import type { FolderPlace } from '../../src/domain/ids.ts'
import type { Chance } from '../support/chance.ts'
import type { Model } from './model.ts'
import type { Services } from './services.ts'
import type { Turns } from './turns.ts'

/** What an action has to do with. */
export interface Stage {
  readonly services: Services
  readonly model: Model
  readonly chance: Chance
  readonly turns: Turns
  readonly accounts: readonly AccountCaller[]
  /** Jobs under way: no job runs twice at the same time. */
  readonly running: Set<string>
  /** A name that nobody has used. */
  newName(kind: string): string
}

/** A sender that is gone. */
export class BrokenOff extends Error {
  override readonly name = 'BrokenOff'
}

export type Action = (stage: Stage) => Promise<void>

const ADDRESSES = ['192.0.2.1', '192.0.2.2']

export function someCaller({ chance, accounts }: Stage): Caller {
  return chance.fraction() < 0.25 ? guest(chance) : chance.pick(accounts)
}

const guests = new Map<string, GuestCaller>(ADDRESSES.map((bucket) => [bucket, { kind: 'guest', bucket }]))

function guest(chance: Chance): GuestCaller {
  const found = guests.get(chance.pick(ADDRESSES))
  if (found === undefined) throw new Error('no such guest')
  return found
}

export function somePlace({ chance, model }: Stage, by: Caller): FolderPlace {
  const folders = by.kind === 'guest' ? [] : model.foldersOf(by)
  if (folders.length === 0 || chance.fraction() < 0.4) return 'root'
  return chance.pick(folders).id
}

/** The caller's own, or null where there is none. */
function some<T>({ chance }: Stage, things: readonly T[]): T | null {
  return things.length === 0 ? null : chance.pick(things)
}

const nobody = null

export const createFolder: Action = async (stage) => {
  const { chance, accounts, model, services } = stage
  const by = chance.pick(accounts)
  const parent = chance.fraction() < 0.5 ? 'root' : somePlace(stage, by)
  const name = stage.newName('folder')
  const { identifier: id } = await services.files.folders.create(by, {
    ...{ name, parent, isPublic: true, password: nobody },
  })
  const isDoomed = model.isDoomed(parent)
  model.folders.set(id, { id, by, name, parents: new Set([parent]), moves: 0, isDoomed })
}

export const moveFolder: Action = async (stage) => {
  const { chance, accounts, model, services } = stage
  const by = chance.pick(accounts)
  const folder = some(stage, model.foldersOf(by))
  if (folder === null) return
  const parent = somePlace(stage, by)
  const before = folder.parents
  folder.parents = new Set([...before, parent])
  folder.moves++
  // Where it may be in a folder that is being deleted, so may all that is in it.
  if (model.isDoomed(folder.id)) for (const file of model.files.values()) model.refresh(file)
  try {
    await services.files.folders.move(by, folder.id, parent)
    if (folder.moves === 1) folder.parents = new Set([parent])
  } catch (error) {
    if (isPlain(error) && folder.moves === 1) folder.parents = before
    throw error
  } finally {
    folder.moves--
  }
}

export const deleteFolder: Action = async (stage) => {
  const { chance, accounts, model, services } = stage
  const by = chance.pick(accounts)
  const folder = some(stage, model.foldersOf(by))
  if (folder === null) return
  model.dooming(folder)
  const { deleted } = await services.files.removals.folders(by, [folder.id])
  // Else another one has deleted what it was in.
  if (deleted === 1) model.doomed(folder)
}

export const moveFile: Action = async (stage) => {
  const { chance, accounts, model, services } = stage
  const by = chance.pick(accounts)
  const file = some(stage, model.filesOf(by))
  if (file === null || file.uuid === null) return
  const place = somePlace(stage, by)
  const before = file.places
  file.places = new Set([...before, place])
  file.moves++
  model.refresh(file)
  try {
    await services.files.move(by, { kind: 'uuid', uuid: file.uuid }, place)
    if (file.moves === 1) file.places = new Set([place])
    model.refresh(file)
  } catch (error) {
    if (isPlain(error) && file.moves === 1) file.places = before
    throw error
  } finally {
    file.moves--
  }
}

export const deleteFile: Action = async (stage) => {
  const { chance, accounts, model, services } = stage
  const file = some(stage, model.filesOf(chance.pick(accounts)))
  if (file === null || file.uuid === null || file.by.kind === 'guest') return
  model.ending(file)
  const { deleted } = await services.files.removals.files(file.by, [{ kind: 'uuid', uuid: file.uuid }])
  if (deleted === 1) file.mayBeThere = false
}

export const binFile: Action = async (stage) => {
  const { chance, accounts, model, services } = stage
  const file = some(stage, model.filesOf(chance.pick(accounts)))
  if (file === null || file.uuid === null || file.by.kind === 'guest' || file.entry !== null) return
  model.ending(file)
  const [outcome] = await services.files.bin.put(file.by, [
    { kind: 'file', file: { kind: 'uuid', uuid: file.uuid } },
  ])
  if (outcome?.done !== true) return
  file.entry = model.isRefused(file.sha256) || model.isLeaving(file.by) ? null : outcome.result
}

export const restoreFile: Action = async (stage) => {
  const { chance, accounts, model, services } = stage
  const by = chance.pick(accounts)
  const binned = [...model.files.values()].filter((file) => file.by === by && file.entry !== null)
  const file = some(stage, binned)
  if (file === null || file.entry === null) return
  const { entry } = file
  file.entry = null
  model.hasRestored = true
  // Back to where it was, or to the top where that is gone.
  file.places = new Set([...file.places, 'root'])
  model.mayCome(file)
  await services.files.binRestoring.restore(by, [entry], null)
}

export const runJob: Action = async ({ services, chance, running }) => {
  const job = chance.pick(services.jobs)
  if (running.has(job.name)) return
  running.add(job.name)
  try {
    await job.run(() => true)
  } finally {
    running.delete(job.name)
  }
}

/** Whether the error says for certain that nothing was done: no part has failed. */
export function isPlain(error: unknown): boolean {
  if (!(error instanceof Refusal)) return false
  return error.code !== 'STORAGE_UNAVAILABLE' && error.code !== 'DATABASE_UNAVAILABLE'
}
