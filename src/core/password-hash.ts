import { Refusal } from '../domain/errors.ts'
import { LONGEST_PASSWORD } from '../domain/password-grade.ts'
import { isLongerThan, RAW_FACTOR } from '../domain/text.ts'

/**
 * Passwords of accounts and folders as argon2id hashes (RFC 9106). Bun computes them off the main thread; at most two at
 * a time, because each takes 19 MiB of memory and most of a core for some 50 ms. Throws Refusal SERVER_BUSY when too many
 * wait.
 */

const MAX_CONCURRENT = 2
/** Those that wait, of everybody: some 5 s of work. */
export const MOST_WAITING = 200
/** Seconds suggested for a retry. */
const RETRY_AFTER = 5
/** Costs recommended by OWASP. Each hash records its own costs, so these can change. */
const COSTS = { algorithm: 'argon2id', memoryCost: 19_456, timeCost: 2 } as const

let running = 0
const waiting: (() => void)[] = []

async function withSlot<T>(work: () => Promise<T>): Promise<T> {
  if (running < MAX_CONCURRENT) running++
  else if (waiting.length >= MOST_WAITING) throw busyWithPasswords()
  else await new Promise<void>((resolve) => waiting.push(resolve))
  try {
    return await work()
  } finally {
    const next = waiting.shift()
    // This slot passes to the next call, so `running` does not change.
    if (next === undefined) running--
    else next()
  }
}

export function busyWithPasswords(): Refusal {
  return new Refusal(
    'SERVER_BUSY',
    'Too many passwords are being checked; try again in a few seconds',
    RETRY_AFTER,
  )
}

/**
 * Whether the password is too long to be anybody's. Must be checked before a password is normalized or
 * hashed.
 */
export function isNoPassword(password: string): boolean {
  return isLongerThan(password, RAW_FACTOR * LONGEST_PASSWORD)
}

/** Hashes a password for which `isNoPassword` is false. */
export function hashPassword(password: string): Promise<string> {
  if (isNoPassword(password)) throw new Error('the length of a password must be checked before it is hashed')
  return withSlot(() => Bun.password.hash(password.normalize('NFC'), COSTS))
}

export function verifyPassword(password: string, hash: string): Promise<boolean> {
  if (password === '' || isNoPassword(password)) return Promise.resolve(false)
  return withSlot(() => Bun.password.verify(password.normalize('NFC'), hash))
}
