import * as z from 'zod'
import type { Signing } from '../core/hmac.ts'
import { verifyPassword } from '../core/password-hash.ts'
import { tryOnce } from '../core/rate-limits/attempts.ts'
import type { RateLimits } from '../core/rate-limits/rate-limits.ts'
import type { Viewer } from '../domain/access.ts'
import { type Clock, DAY, HOUR, MINUTE } from '../domain/clock.ts'
import { type TriedSecret, wrongSecret } from '../domain/errors.ts'
import type { FolderId, LinkId } from '../domain/ids.ts'
import type { Random } from '../domain/random.ts'

/** Milliseconds for which a folder or link stays unlocked. */
export const UNLOCKED_FOR = DAY

/** Limit that keeps the cookie within the size that browsers accept; the oldest grants are dropped. */
const MOST_GRANTS = 40

const TRIES_PER_ADDRESS = 10
const TRIES_PER_LOCK = 60

/** What a password form opens: a folder, or a made link. */
export type Lock = { readonly folder: FolderId } | { readonly link: LinkId }

/** A lock with its password. */
export interface ClosedLock {
  readonly lock: Lock
  /** HMAC that changes with every change of the password; in the cookie of whoever gave it. */
  readonly tag: string
  readonly hash: string
}

const COOKIE = 'folder-cookie'
const NONCE = 'folder-nonce'

/** Of a folder or of a link. */
const lockFields = { f: z.number().optional(), l: z.number().optional(), e: z.number() }
const cookiePayload = z.array(z.object({ ...lockFields, t: z.string() }))
type Grant = z.infer<typeof cookiePayload>[number]

const noncePayload = z.object(lockFields)

function idOf(lock: Lock): Pick<Grant, 'f' | 'l'> {
  return 'link' in lock ? { l: lock.link } : { f: lock.folder }
}

function isFor(lock: Lock, grant: Pick<Grant, 'f' | 'l'>): boolean {
  return 'link' in lock ? grant.l === lock.link : grant.f === lock.folder
}

function subjectOf(lock: Lock): string {
  return 'link' in lock ? `password:link-${lock.link}` : `password:${lock.folder}`
}

function secretOf(lock: Lock): TriedSecret {
  return 'link' in lock ? `password of link ${lock.link}` : `password of folder ${lock.folder}`
}

export type FolderPasswords = ReturnType<typeof createFolderPasswords>

/** Password checks of folders and links, and the signed cookie that lists unlocked ones. */
export function createFolderPasswords(rates: RateLimits, signing: Signing, clock: Clock, random: Random) {
  function readCookie(cookie: string | null): Grant[] {
    if (cookie === null) return []
    const found = cookiePayload.safeParse(signing.verify(COOKIE, cookie))
    return found.success ? found.data.filter((grant) => grant.e > clock.now()) : []
  }

  function isOurNonce(lock: Lock, nonce: string): boolean {
    const found = noncePayload.safeParse(signing.verify(NONCE, nonce))
    return found.success && isFor(lock, found.data) && found.data.e > clock.now()
  }

  /**
   * The password itself: plain, or decoded from base64 of `password|epoch_ms|nonce` when the nonce was signed
   * here. Accepts either alphabet of base64, with or without padding. A plus sent unescaped in a form arrives
   * as a space.
   */
  function decode(lock: Lock, input: string): string {
    if (!/^[A-Za-z0-9+/_ -]+={0,2}$/.test(input)) return input
    const text = Buffer.from(input.replaceAll(' ', '+'), 'base64').toString('utf8')
    const [, password, nonce] = /^(.*)\|\d+\|([^|]+)$/s.exec(text) ?? []
    return password !== undefined && nonce !== undefined && isOurNonce(lock, nonce) ? password : input
  }

  function guess(lock: Lock, bucket: string, work: () => Promise<void>): Promise<void> {
    const subject = subjectOf(lock)
    const windows = [
      { subject: `${subject}:${bucket}`, limit: TRIES_PER_ADDRESS, length: 15 * MINUTE },
      { subject, limit: TRIES_PER_LOCK, length: HOUR },
    ] as const
    const message = 'Too many wrong passwords; wait a while and try again'
    return tryOnce(rates, windows, { message, tried: { secret: secretOf(lock), username: null } }, work)
  }

  return {
    /** A signed nonce for the password form of that lock, so that the server need not store it. */
    nonce: (lock: Lock) =>
      signing.sign(NONCE, {
        ...idOf(lock),
        e: clock.now() + UNLOCKED_FOR,
        r: Buffer.from(random(9)).toString('base64url'),
      }),

    /**
     * Checks the password and returns the cookie with this lock added to those in `cookie`. Throws Refusal
     * WRONG_PASSWORD, or RATE_LIMITED after too many wrong ones.
     */
    async unlock(
      { lock, tag, hash }: ClosedLock,
      input: string,
      bucket: string,
      cookie: string | null,
    ): Promise<string> {
      await guess(lock, bucket, async () => {
        if (await verifyPassword(decode(lock, input), hash)) return
        throw wrongSecret('WRONG_PASSWORD', 'Wrong password; check it and try again', secretOf(lock))
      })
      const others = readCookie(cookie).filter((grant) => !isFor(lock, grant))
      const grant = { ...idOf(lock), t: tag, e: clock.now() + UNLOCKED_FOR }
      return signing.sign(COOKIE, [...others, grant].slice(-MOST_GRANTS))
    },

    /** Folders that the cookie unlocks; none when it was altered or has expired. */
    grants: (cookie: string | null): Viewer['grants'] =>
      new Map(
        readCookie(cookie).flatMap(({ f, t }) => (f === undefined ? [] : [[f as FolderId, t] as const])),
      ),

    /** Whether the cookie unlocks the link whose password has this tag. */
    unlocks: (cookie: string | null, link: LinkId, tag: string) =>
      readCookie(cookie).some((grant) => isFor({ link }, grant) && grant.t === tag),
  }
}
