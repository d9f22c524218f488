import { createHmac } from 'node:crypto'
import type { Db } from '../database/schema.ts'
import { findCodes, takeCodeStep } from '../database/two-factors.ts'
import { SECOND } from '../domain/clock.ts'
import { Refusal } from '../domain/errors.ts'
import type { AccountId } from '../domain/ids.ts'
import type { Auth } from './auth.ts'

const STEP = 30 * SECOND
const MODULUS = 1_000_000

const used = () => new Refusal('WRONG_CODE', 'This code was used before; wait for the next one')

async function stepOfAccount(db: Db, auth: Auth, account: AccountId, code: string) {
  const row = await findCodes(db, account)
  if (row === undefined) return { step: null, last: null }
  const { decrypted } = await auth()
  return { step: stepOf(await decrypted(row.secret), code), last: row.last_step }
}

/** Throws Refusal WRONG_CODE for a right code of an authenticator app that was used before, and lets wrong ones pass. */
export async function assertUnused(db: Db, auth: Auth, account: AccountId, code: string): Promise<void> {
  const { step, last } = await stepOfAccount(db, auth, account, code)
  if (step !== null && last !== null && step <= last) throw used()
}

/**
 * Uses up a code of an authenticator app that was found to be right. RFC 6238, 5.2: a code is accepted once, at whichever
 * node, and none from before it afterwards. Throws Refusal WRONG_CODE for one that was used.
 */
export async function useCode(db: Db, auth: Auth, account: AccountId, code: string): Promise<void> {
  const { step } = await stepOfAccount(db, auth, account, code)
  if (step === null || !(await takeCodeStep(db, account, step))) throw used()
}

/** The latest half minute around now that has this code; null when none has. better-auth goes by the system's time. */
function stepOf(secret: string, code: string): number | null {
  const now = Math.floor(Date.now() / STEP)
  // One more to either side than is accepted: the half minute may have ended since the code was found to be right.
  return [2, 1, 0, -1, -2].map((off) => now + off).find((step) => codeAt(secret, step) === code) ?? null
}

/** RFC 4226, 5.3. */
function codeAt(secret: string, step: number): string {
  const counter = Buffer.alloc(8)
  counter.writeBigUInt64BE(BigInt(step))
  const mac = createHmac('sha1', secret).update(counter).digest()
  const offset = (mac.at(-1) ?? 0) & 0xf
  return String((mac.readUInt32BE(offset) & 0x7f_ff_ff_ff) % MODULUS).padStart(6, '0')
}
