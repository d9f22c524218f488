import { createHash, hkdfSync } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import type { SecretSource } from '../config.ts'
import { dropMeta, metaOf, metaValue, setMeta } from '../database/meta.ts'
import type { Db } from '../database/schema.ts'
import { endAllSessions } from '../database/sessions.ts'
import { inTransaction } from '../database/transactions.ts'
import { listCodeSecrets, setCodeSecrets, turnOffCodes } from '../database/two-factors.ts'
import { Refusal } from '../domain/errors.ts'
import type { Random } from '../domain/random.ts'

/** What an installation signs and encrypts with. */
export interface Secrets {
  /** Signs addresses, receipts and cookies of folders. */
  readonly links: string
  /** Signs cookies of signing in, and encrypts the secrets of authenticator apps. */
  readonly signIn: string
}

/** Where the secrets lie that the installation keeps by itself, and by what one that is given is known again. */
const [LINKS, SIGN_IN, FINGERPRINT] = ['link_secret', 'auth_secret', 'secret_fingerprint']
const KEYS = [LINKS, SIGN_IN, FINGERPRINT] as const
const SHORTEST = 32

/** The secret that is given, or null. Throws Refusal PRECONDITION_FAILED for a file that holds none. */
export async function readSecret(source: SecretSource | null): Promise<string | null> {
  if (source === null) return null
  if (source.kind === 'text') return source.text
  const text = await readFile(source.path, 'utf8').catch((error: Error) => {
    throw refused(`the secret in ${source.path} cannot be read: ${error.message}`)
  })
  if (text.trim().length < SHORTEST) {
    throw refused(`${source.path} has to hold a secret of at least ${SHORTEST} characters`)
  }
  return text.trim()
}

/**
 * The secrets of the installation: out of the one that is given, or those in the database, which are made at the first start.
 * Throws Refusal PRECONDITION_FAILED when the data was made with others.
 */
export async function openSecrets(db: Db, given: string | null, random: Random): Promise<Secrets> {
  const fingerprint = await metaOf(db, FINGERPRINT)
  if (given === null) {
    if (fingerprint !== null) {
      throw refused(
        'this data was made with a secret that is kept outside of it: set HOLDFAST_SECRET or HOLDFAST_SECRET_FILE to that one, or let "holdfast secret rotate" make another',
      )
    }
    const make = () => Buffer.from(random(32)).toString('hex')
    return { links: await metaValue(db, LINKS, make), signIn: await metaValue(db, SIGN_IN, make) }
  }
  if (fingerprint === null && ((await metaOf(db, LINKS)) ?? (await metaOf(db, SIGN_IN))) !== null) {
    throw refused(
      'this data was made with a secret that lies in its database, and another one is set: run "holdfast secret rotate" once to go over to it, or take HOLDFAST_SECRET and HOLDFAST_SECRET_FILE away',
    )
  }
  if ((await metaValue(db, FINGERPRINT, () => fingerprintOf(given))) !== fingerprintOf(given)) {
    throw refused(
      'this data was made with another secret than the one in HOLDFAST_SECRET or HOLDFAST_SECRET_FILE: set that one, or run "holdfast secret rotate" to go over to the new one',
    )
  }
  return derived(given)
}

export interface Rotation {
  /** Accounts whose authenticator apps count no more. */
  readonly withoutCodes: number
}

/**
 * Gives the installation other secrets: the one that is given, or new ones in its database. Everybody is signed out, and what
 * was signed before is worth nothing. `former`: the one that was given before, where the database has none. To be called while
 * no server runs. Throws Refusal PRECONDITION_FAILED when what is encrypted cannot be read, unless it may be dropped.
 */
export async function rotateSecrets(
  db: Db,
  parts: {
    readonly given: string | null
    readonly former: string | null
    readonly mayDropCodes: boolean
    readonly random: Random
  },
): Promise<Rotation> {
  const { given, former, mayDropCodes, random } = parts
  const { symmetricDecrypt, symmetricEncrypt } = await import('better-auth/crypto')
  return inTransaction(db, async (trx) => {
    const before = await formerSignIn(trx, former)
    const codes = await listCodeSecrets(trx)
    if (before === null && codes.length > 0 && !mayDropCodes) {
      throw refused(
        `${codes.length} accounts use authenticator apps, whose secrets are encrypted with the former secret: give it with --former-file, or turn their codes off with --drop-codes`,
      )
    }
    await dropMeta(trx, KEYS)
    if (given !== null) await setMeta(trx, FINGERPRINT, fingerprintOf(given))
    const { signIn } = await openSecrets(trx, given, random)
    for (const { account, secret, recovery_codes } of codes) {
      if (before === null) {
        await turnOffCodes(trx, account)
        continue
      }
      const again = async (data: string) =>
        symmetricEncrypt({ key: signIn, data: await symmetricDecrypt({ key: before, data }) })
      await setCodeSecrets(trx, account, {
        secret: await again(secret),
        recovery_codes: await again(recovery_codes),
      })
    }
    await endAllSessions(trx)
    return { withoutCodes: before === null ? codes.length : 0 }
  })
}

/** What signing in was signed with until now; null when nobody says. */
async function formerSignIn(trx: Db, former: string | null): Promise<string | null> {
  if (former === null) return metaOf(trx, SIGN_IN)
  if ((await metaOf(trx, FINGERPRINT)) !== fingerprintOf(former)) {
    throw refused('the secret in that file is not the one that this data was made with')
  }
  return derived(former).signIn
}

function derived(secret: string): Secrets {
  return { links: key(secret, 'links'), signIn: key(secret, 'sign-in') }
}

/** HKDF (RFC 5869). */
function key(secret: string, use: string): string {
  return Buffer.from(hkdfSync('sha256', secret, '', `holdfast ${use}`, 32)).toString('hex')
}

/** Tells one secret from another and nothing about it. */
function fingerprintOf(secret: string): string {
  return createHash('sha256').update(key(secret, 'fingerprint')).digest('hex')
}

function refused(message: string): Refusal {
  return new Refusal('PRECONDITION_FAILED', message)
}
