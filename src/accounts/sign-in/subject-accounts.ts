import type { SignUp as Mode } from '../../config.ts'
import { insertAccount } from '../../core/accounts.rows.ts'
import type { Database } from '../../database/database.ts'
import { isUniqueViolation } from '../../database/differences.ts'
import { inTransaction } from '../../database/transactions.ts'
import type { Clock } from '../../domain/clock.ts'
import { Refusal } from '../../domain/errors.ts'
import type { Random } from '../../domain/random.ts'
import { assertOpen } from '../one-time-links.ts'
import { findSubject, insertSubject } from './identities.rows.ts'

export interface SubjectAccounts {
  /**
   * Creates the subject's account unless there is one. `wanted`: the provider's name for the person; the
   * account's is similar. Throws Refusal SIGN_UP_CLOSED or DUPLICATE_NAME.
   */
  ensure(subject: string, wanted: string): Promise<void>
}

export function createSubjectAccounts(parts: {
  db: Database
  clock: Clock
  random: Random
  mode: Mode
}): SubjectAccounts {
  const { db, clock, random, mode } = parts

  /** False when another request was first. */
  async function insert(subject: string, username: string): Promise<boolean> {
    try {
      await inTransaction(db, async (trx) => {
        const now = clock.now()
        const id = await insertAccount(trx, random, { username, created_at: now })
        await insertSubject(trx, id, subject, now)
      })
      return true
    } catch (error) {
      if (!isUniqueViolation(error)) throw error
      return false
    }
  }

  return {
    async ensure(subject, wanted) {
      if ((await findSubject(db, subject)) !== null) return
      assertOpen(mode)
      for (const username of candidates(wanted, random)) {
        if (await insert(subject, username)) return
        // A concurrent request of the subject may have created it.
        if ((await findSubject(db, subject)) !== null) return
      }
      throw new Refusal('DUPLICATE_NAME', 'No free user name was found for you; try again')
    },
  }
}

const MOST_NAMES = 20
const LONGEST_WANTED = 200
/** Leaves room for a number within a user name's 32 characters. */
const LONGEST_BASE = 26

function* candidates(wanted: string, random: Random): Generator<string> {
  const [first = ''] = wanted.slice(0, LONGEST_WANTED).split('@', 1)
  const base = first
    .toLowerCase()
    .replaceAll(/[^a-z0-9._-]/g, '-')
    .slice(0, LONGEST_BASE)
  if (base.length >= 3) yield base
  for (let tries = 0; tries < MOST_NAMES; tries++) {
    yield `${base || 'user'}-${Buffer.from(random(2)).toString('hex')}`
  }
}
