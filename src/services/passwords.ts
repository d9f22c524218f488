import { isLongerThan, RAW_FACTOR } from '../domain/measured-text.ts'
import { LONGEST } from '../domain/password-grade.ts'

/**
 * Passwords of accounts and folders as argon2id hashes (RFC 9106). Bun computes them off the main thread; at most two at
 * a time, because each takes 19 MiB of memory and most of a core for some 50 ms.
 */

const AT_ONCE = 2
/** What OWASP recommends. A hash carries the costs that it was made with, so these can change. */
const COSTS = { algorithm: 'argon2id', memoryCost: 19_456, timeCost: 2 } as const

let running = 0
const waiting: (() => void)[] = []

async function inTurn<T>(work: () => Promise<T>): Promise<T> {
  if (running < AT_ONCE) running++
  else await new Promise<void>((resolve) => waiting.push(resolve))
  try {
    return await work()
  } finally {
    const next = waiting.shift()
    // The place is handed over, so `running` stays as it is.
    if (next === undefined) running--
    else next()
  }
}

/** Whether nobody can have that password, because it is too long. To be asked before a password is looked at. */
export function isNoPassword(password: string): boolean {
  return isLongerThan(password, RAW_FACTOR * LONGEST)
}

/** Of a password that `isNoPassword` has let through. */
export function hashPassword(password: string): Promise<string> {
  if (isNoPassword(password)) throw new Error('a password was hashed that nobody has measured')
  return inTurn(() => Bun.password.hash(password.normalize('NFC'), COSTS))
}

export function verifyPassword(password: string, hash: string): Promise<boolean> {
  if (password === '' || isNoPassword(password)) return Promise.resolve(false)
  return inTurn(() => Bun.password.verify(password.normalize('NFC'), hash))
}
