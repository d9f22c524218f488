import { mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import * as z from 'zod/mini'
import { DAY } from '../domain/clock.ts'
import { madeTransfer, uploaded } from './answers.ts'
import { type FoundFile, syncFolder } from './local-file.ts'
import { placeName, type UploadPlace } from './upload-place.ts'

const state = z.discriminatedUnion('kind', [
  /** Path of a resumable upload, and a guest's receipt: secrets. */
  z.object({
    kind: z.literal('resumable'),
    upload: z.string(),
    receipt: z.nullable(z.string()),
  }),
  /** Paths and lengths of partial uploads, in order, and the key by which the final one is created: secrets. */
  z.object({
    kind: z.literal('partial uploads'),
    idempotencyKey: z.string(),
    uploads: z.array(z.object({ path: z.string(), length: z.number() })).check(z.minLength(1)),
  }),
  /** Idempotency key of a one-request upload, and the hash of its content. */
  z.object({
    kind: z.literal('whole'),
    idempotencyKey: z.string(),
    sha256: z.string(),
  }),
  z.object({ kind: z.literal('done'), result: uploaded }),
  /** Of a command, whose files go into it: from `seed` the idempotency key follows, `made` has a guest's receipt. */
  z.object({ kind: z.literal('transfer'), seed: z.string(), made: z.nullable(madeTransfer) }),
])
export type KeptUploadState = z.infer<typeof state>

export interface UploadDestination {
  readonly server: string
  readonly account: number | null
  readonly place: UploadPlace
}

/** A change that keeps size and date keeps the identifier, so resuming compares bytes. */
export type LocalUploadId = string

/** What a later run needs to resume. Contains secrets of guests' uploads, so only the user can read it. */
export interface UploadStates {
  read(id: LocalUploadId): Promise<KeptUploadState | null>
  /** `durable`: survives a power cut on return. */
  write(id: LocalUploadId, state: KeptUploadState, durable: boolean): Promise<void>
  remove(id: LocalUploadId): Promise<void>
  /** Removes states whose uploads have expired on every server. */
  removeOld(now: number): Promise<void>
}

/** Longer than servers keep unfinished uploads by default. */
const KEPT_FOR = 30 * DAY

export function uploadId(file: FoundFile, { server, account, place }: UploadDestination): LocalUploadId {
  return hashOf([server, account, placeName(place), file.path, file.size, file.changedAt])
}

/** Of the transfer that a command with these arguments makes. */
export function transferId(server: string, account: number | null, paths: readonly string[]): LocalUploadId {
  return hashOf(['transfer', server, account, ...paths.map((path) => resolve(path))])
}

export function hashOf(parts: readonly unknown[]): string {
  return new Bun.CryptoHasher('sha256').update(JSON.stringify(parts)).digest('hex')
}

/** `folder`: the user's state, such as `~/.local/state`. */
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
        // Half written at a power cut: as if missing.
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
