import {
  dropKeyUse,
  dropOldKeyUses,
  findKeyUse,
  insertKeyUse,
  type KeyUse,
  renewKeyUse,
  setKeyResult,
  type UsedKey,
} from '../database/idempotency-keys.ts'
import { nodeExists } from '../database/nodes.ts'
import type { Db } from '../database/schema.ts'
import { type Clock, DAY, SECOND } from '../domain/clock.ts'
import { Refusal } from '../domain/errors.ts'
import type { Sha256 } from '../domain/ids.ts'
import { type Caller, isRestricted } from './caller.ts'
import type { Nodes } from './nodes.ts'
import { assertNotRefused } from './refused-content.ts'
import { interrupted } from './room.ts'
import type { StoredFile } from './stored-file.ts'

/** Keeps a request that is sent again, because its answer was lost, from storing its file twice. */
export interface Idempotency {
  /**
   * What a request of this caller with this key led to in the last 24 hours; with none, this is the first. One that is
   * under way is waited for a while. Throws Refusal REQUEST_UNDER_WAY, or CONTENT_REFUSED for a file that was taken down.
   */
  begin(
    caller: Caller,
    key: string,
  ): Promise<{ readonly file: StoredFile } | { readonly first: FirstRequest }>
  /** Forgets keys that are older. */
  forgetOld(): Promise<void>
}

export interface FirstRequest {
  /** To be called in the transaction that stores the file. */
  record(trx: Db, file: StoredFile): Promise<void>
  /** To be called when the request is through: one that came to nothing leaves nothing behind. */
  end(): Promise<void>
}

const GOOD_FOR = DAY

/** Milliseconds for which the first request is waited for. */
const PATIENCE = 20 * SECOND
const LOOK_AGAIN = 100

/** Seconds until it is worth another try. */
const UNDER_WAY_RETRY = 10

export function createIdempotency(parts: {
  db: Db
  nodes: Nodes
  clock: Clock
  report: (error: unknown) => void
}): Idempotency {
  const { db, nodes, clock, report } = parts
  /** First requests of this process: what the database says of others under its name is left over. */
  const running = new Set<string>()

  async function isNobodys({ node }: KeyUse): Promise<boolean> {
    // This process is looking at the key right now, so it has no first request of its own under way.
    return node === null || node === nodes.id() || !(await nodeExists(db, node))
  }

  /** Whether this request is the first one now. */
  async function isFirst(key: UsedKey, present: KeyUse | undefined): Promise<boolean> {
    const use = { created_at: clock.now(), node: nodes.id() }
    if (present === undefined) return insertKeyUse(db, key, use)
    const isOver = present.created_at + GOOD_FOR <= clock.now()
    if (isOver || (present.result === null && (await isNobodys(present))))
      return renewKeyUse(db, present, use)
    return false
  }

  function first(key: UsedKey): FirstRequest {
    const node = nodes.id()
    return {
      async record(trx, file) {
        if (!(await setKeyResult(trx, key, node, JSON.stringify(file)))) throw interrupted()
      },
      async end() {
        await dropKeyUse(db, key, node).catch(report)
        running.delete(nameOf(key))
      },
    }
  }

  return {
    async begin(caller, text) {
      const key = usedKey(caller, text)
      const deadline = clock.monotonic() + PATIENCE
      for (;;) {
        if (!running.has(nameOf(key))) {
          running.add(nameOf(key))
          let isOurs = false
          try {
            const present = await findKeyUse(db, key)
            const isGood = present !== undefined && present.created_at + GOOD_FOR > clock.now()
            if (isGood && present.result !== null) {
              const file = parseResult(present.result)
              await assertNotRefused(db, file.sha256)
              return { file }
            }
            isOurs = await isFirst(key, present)
            if (isOurs) return { first: first(key) }
          } finally {
            if (!isOurs) running.delete(nameOf(key))
          }
        }
        if (clock.monotonic() > deadline) {
          const message = 'The first request with this Idempotency-Key is still under way; try again later'
          throw new Refusal('REQUEST_UNDER_WAY', message, UNDER_WAY_RETRY)
        }
        await Bun.sleep(LOOK_AGAIN)
      }
    },

    forgetOld: () => dropOldKeyUses(db, clock.now() - GOOD_FOR),
  }
}

function usedKey(caller: Caller, key: string): UsedKey {
  return { caller: nameOfCaller(caller), hash: Bun.SHA256.hash(key, 'hex') as Sha256 }
}

/**
 * Guests are not known apart: their key alone counts, and has to be one that nobody else draws. Whoever may not do all
 * that the account may is not told what others of the account have uploaded.
 */
function nameOfCaller(caller: Caller): string {
  if (caller.kind === 'guest') return 'guest'
  const { account, by } = caller
  return by.kind === 'key' && isRestricted(caller) ? `key:${by.key}` : `account:${account}`
}

const nameOf = ({ caller, hash }: UsedKey) => `${caller} ${hash}`

/** What `record` has written. */
function parseResult(text: string): StoredFile {
  return JSON.parse(text)
}
