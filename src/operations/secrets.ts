import { createHash, hkdfSync } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import {
  createSecretBox,
  listCodeSecrets,
  setCodeSecrets,
  turnOffCodes,
} from '../accounts/sign-in/second-factor.ts'
import { endAllSessions } from '../accounts/sign-in/sessions.rows.ts'
import type { SecretSource } from '../config.ts'
import { assertOwnVersion } from '../contents/store-places.ts'
import { recordAuditEntry } from '../core/audit-log.ts'
import { dropMeta, metaOf, metaValue, setMeta } from '../core/meta.rows.ts'
import { assertNoServerRuns } from '../core/nodes/nodes.ts'
import type { Database, Queryable, Trx } from '../database/database.ts'
import { inTransaction } from '../database/transactions.ts'
import { COMMAND_LINE } from '../domain/audit.ts'
import { type Clock, SECOND, sleep } from '../domain/clock.ts'
import { disposing } from '../domain/disposing.ts'
import { preconditionFailed, Refusal } from '../domain/errors.ts'
import type { Random } from '../domain/random.ts'
import { connect, databaseExists, holdDataFolder, type StorageOptions } from '../storage.ts'

export interface Secrets {
  /** For HMACs of addresses, receipts and folder cookies. */
  readonly links: string
  /** Encrypts secrets of authenticator apps, and recovery codes. */
  readonly signIn: string
}

/** Keys in `meta`. The fingerprint identifies a configured secret. */
const [LINKS, SIGN_IN, FINGERPRINT] = ['link_secret', 'auth_secret', 'secret_fingerprint']
const KEYS = [LINKS, SIGN_IN, FINGERPRINT] as const
const SHORTEST = 32

/** Throws Refusal PRECONDITION_FAILED for a file without a valid secret. */
export async function readSecret(source: SecretSource | null): Promise<string | null> {
  if (source === null) return null
  if (source.kind === 'text') return source.text
  const text = await readFile(source.path, 'utf8').catch((error: Error) => {
    throw preconditionFailed(`the secret in ${source.path} cannot be read: ${error.message}`)
  })
  if (text.trim().length < SHORTEST) {
    throw preconditionFailed(`${source.path} has to hold a secret of at least ${SHORTEST} characters`)
  }
  return text.trim()
}

/**
 * Derived from the configured secret, or stored in the database, which generates them at the first start. Throws
 * Refusal PRECONDITION_FAILED when the data was made with others.
 */
export async function openSecrets(db: Queryable, given: string | null, random: Random): Promise<Secrets> {
  const fingerprint = await metaOf(db, FINGERPRINT)
  if (given === null) {
    if (fingerprint !== null) {
      throw preconditionFailed(
        'this data was made with a secret that is kept outside of it: set HOLDFAST_SECRET or HOLDFAST_SECRET_FILE to that one, or let "holdfast secret rotate" make another',
      )
    }
    const make = () => Buffer.from(random(32)).toString('hex')
    return { links: await metaValue(db, LINKS, make), signIn: await metaValue(db, SIGN_IN, make) }
  }
  if (fingerprint === null && ((await metaOf(db, LINKS)) ?? (await metaOf(db, SIGN_IN))) !== null) {
    throw preconditionFailed(
      'this data was made with a secret that lies in its database, and another one is set: run "holdfast secret rotate" once to go over to it, or take HOLDFAST_SECRET and HOLDFAST_SECRET_FILE away',
    )
  }
  if ((await metaValue(db, FINGERPRINT, () => fingerprintOf(given))) !== fingerprintOf(given)) {
    throw preconditionFailed(
      'this data was made with another secret than the one in HOLDFAST_SECRET or HOLDFAST_SECRET_FILE: set that one, or run "holdfast secret rotate" to go over to the new one',
    )
  }
  return derived(given)
}

export interface Rotation {
  readonly withoutCodes: number
}

/**
 * Rotates to the configured secret, or to a new one in the database. Ends all sessions and voids everything signed
 * before. `former`: the previous configured secret, if the database does not hold it. Must not be called while a server
 * runs. Throws Refusal PRECONDITION_FAILED when encrypted data cannot be read, unless it may be dropped.
 */
export async function rotateSecrets(
  db: Database,
  parts: {
    readonly given: string | null
    readonly former: string | null
    readonly mayDropCodes: boolean
    readonly clock: Clock
    readonly random: Random
  },
): Promise<Rotation> {
  const { given, former, mayDropCodes, clock, random } = parts
  return inTransaction(db, async (trx) => {
    const before = await formerSignIn(trx, former)
    const codes = await listCodeSecrets(trx)
    if (before === null && codes.length > 0 && !mayDropCodes) {
      const what =
        codes.length === 1
          ? 'One account uses an authenticator app, whose secret is'
          : `${codes.length} accounts use authenticator apps, whose secrets are`
      throw preconditionFailed(
        `${what} encrypted with the former secret: give it with --former-file, or turn their codes off with --drop-codes`,
      )
    }
    await dropMeta(trx, KEYS)
    if (given !== null) await setMeta(trx, FINGERPRINT, fingerprintOf(given))
    const after = createSecretBox((await openSecrets(trx, given, random)).signIn, random)
    for (const { account, secret, recovery_codes } of codes) {
      if (before === null) {
        await turnOffCodes(trx, account)
        continue
      }
      const again = (sealed: string) => after.seal(createSecretBox(before, random).open(sealed))
      await setCodeSecrets(trx, account, { secret: again(secret), recovery_codes: again(recovery_codes) })
    }
    await endAllSessions(trx)
    const withoutCodes = before === null ? codes.length : 0
    await recordAuditEntry(trx, clock, COMMAND_LINE, {
      act: 'secret.rotated',
      object: null,
      details: { kept: given === null ? 'in the database' : 'outside', codes_turned_off: withoutCodes },
    })
    return { withoutCodes }
  })
}

async function formerSignIn(trx: Trx, former: string | null): Promise<string | null> {
  if (former === null) return metaOf(trx, SIGN_IN)
  if ((await metaOf(trx, FINGERPRINT)) !== fingerprintOf(former)) {
    throw preconditionFailed('the secret in that file is not the one that this data was made with')
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

/** Identifies a secret without revealing it. */
function fingerprintOf(secret: string): string {
  return createHash('sha256').update(key(secret, 'fingerprint')).digest('hex')
}

/**
 * Rotates to the configured secret, or to a new one in the database. Throws DataFolderInUse or Refusal
 * PRECONDITION_FAILED while a server runs, and what `rotateSecrets` throws.
 */
export async function rotateSecretsOf(
  parts: StorageOptions,
  options: { readonly formerFile: string | null; readonly mayDropCodes: boolean },
): Promise<Rotation> {
  const { config, clock, random } = parts
  if (!databaseExists(config)) throw new Refusal('PRECONDITION_FAILED', 'there is no Holdfast data here')
  return disposing(async (open) => {
    open.defer(await holdDataFolder(config))
    const { db, close } = await connect({ ...parts, report() {} })
    open.defer(close)
    await assertOwnVersion(db)
    await quiet(db, clock)
    const { formerFile, mayDropCodes } = options
    const former = formerFile === null ? null : await readSecret({ kind: 'file', path: formerFile })
    return await rotateSecrets(db, {
      given: await readSecret(config.secret),
      former,
      mayDropCodes,
      clock,
      random,
    })
  })
}

async function quiet(db: Parameters<typeof assertNoServerRuns>[0], clock: Clock): Promise<void> {
  const { signal } = new AbortController()
  const pause = (time: number) => sleep(clock.timers, Math.min(time, SECOND))
  await (await assertNoServerRuns(db, { clock, pause, signal }))()
}
