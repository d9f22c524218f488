import { mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import * as z from 'zod/mini'
import { DAY } from '../domain/clock.ts'
import { uploaded } from './answers.ts'
import type { FoundFile } from './local-file.ts'
import { syncFolder } from './sync-folder.ts'

const state = z.discriminatedUnion('kind', [
  /** The path of a resumable upload on the server, and a guest's receipt of it: secrets. */
  z.object({
    kind: z.literal('resumable'),
    upload: z.string(),
    receipt: z.optional(z.nullable(z.string())),
  }),
  /** The key under which it was created, which leads to its parts again: a secret. And their lengths, in their order. */
  z.object({
    kind: z.literal('parts'),
    idempotencyKey: z.string(),
    lengths: z.array(z.number()).check(z.minLength(1)),
  }),
  /** The key under which the whole file is sent, so that it is stored once, and the hash of what goes under it. */
  z.object({
    kind: z.literal('whole'),
    idempotencyKey: z.string(),
    sha256: z.optional(z.string()),
  }),
  /** Done, while other files of the same command are not. */
  z.object({ kind: z.literal('done'), result: uploaded }),
])
export type KeptUploadState = z.infer<typeof state>

/** Where a file goes, and as whose. */
export interface UploadDestination {
  readonly server: string
  /** Null for a guest. */
  readonly account: number | null
  /** A folder's identifier, or `root`. */
  readonly folder: string
}

/**
 * Names one upload of one file as it is now: changed, it is another. One that was changed and has its size and date all the
 * same has the same name, so whoever goes on compares bytes.
 */
export type LocalUploadId = string

/**
 * What has to be known to go on with an upload in another run. Whoever can read it can go on with a guest's upload,
 * so it is for its owner's eyes alone.
 */
export interface UploadStates {
  read(id: LocalUploadId): Promise<KeptUploadState | null>
  /** `durable`: it survives a power cut when this returns. */
  write(id: LocalUploadId, state: KeptUploadState, durable: boolean): Promise<void>
  remove(id: LocalUploadId): Promise<void>
  /** Removes what no server still has a part of. */
  removeOld(now: number): Promise<void>
}

/** Longer than servers keep what is unfinished, unless they are told otherwise. */
const KEPT_FOR = 30 * DAY

export function uploadId(file: FoundFile, { server, account, folder }: UploadDestination): LocalUploadId {
  const parts = [server, account, folder, file.path, file.size, file.changedAt]
  return new Bun.CryptoHasher('sha256').update(JSON.stringify(parts)).digest('hex')
}

/** `folder`: where programs keep the state of the user, such as `~/.local/state`. */
export function createUploadStates(folder: string): UploadStates {
  const states = join(folder, 'holdfast', 'uploads')
  let made: Promise<unknown> | null = null
  const pathOf = (id: LocalUploadId) => join(states, `${id}.json`)

  return {
    async read(id) {
      const text = await readFile(pathOf(id), 'utf8').catch(() => null)
      if (text === null) return null
      try {
        return state.parse(JSON.parse(text))
      } catch {
        // Half written when the power went: as if there were none.
        return null
      }
    },

    async write(id, value, durable) {
      made ??= mkdir(states, { recursive: true, mode: 0o700 })
      await made
      const fresh = `${pathOf(id)}.${process.pid}`
      const file = await open(fresh, 'w', 0o600)
      try {
        await file.writeFile(JSON.stringify(value))
        if (durable) await file.sync()
      } finally {
        await file.close()
      }
      await rename(fresh, pathOf(id))
      if (durable) await syncFolder(states)
    },

    remove: (id) => rm(pathOf(id), { force: true }),

    async removeOld(now) {
      for (const name of await readdir(states).catch(() => [])) {
        const path = join(states, name)
        const found = await stat(path).catch(() => null)
        if (found !== null && now - found.mtimeMs > KEPT_FOR) await rm(path, { force: true })
      }
    },
  }
}
