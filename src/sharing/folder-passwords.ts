import * as z from 'zod'
import type { Signing } from '../core/hmac.ts'
import { verifyPassword } from '../core/password-hash.ts'
import { tryOnce } from '../core/rate-limits/attempts.ts'
import type { RateLimits } from '../core/rate-limits/rate-limits.ts'
import type { Viewer } from '../domain/access.ts'
import { type Clock, DAY, HOUR, MINUTE } from '../domain/clock.ts'
import { Refusal } from '../domain/errors.ts'
import type { FolderId } from '../domain/ids.ts'
import type { Random } from '../domain/random.ts'
import type { ChainRow } from '../files/folders/folders.rows.ts'
import type { AccessControl } from './access.ts'

/** Milliseconds for which a folder stays unlocked. */
export const UNLOCKED_FOR = DAY

/** Limit that keeps the cookie within the size that browsers accept; the oldest grants are dropped. */
const MOST_GRANTS = 40

const TRIES_PER_ADDRESS = 10
const TRIES_PER_FOLDER = 60

/** Password checks of folders, and the signed cookie that lists unlocked ones. */
export interface FolderPasswords {
  /** A signed nonce for the password form of that folder, so that the server need not store it. */
  nonce(folder: FolderId): string
  /**
   * Checks the password and returns the cookie with this folder added to those in `cookie`. Throws Refusal
   * WRONG_PASSWORD, or RATE_LIMITED after too many wrong ones.
   */
  unlock(folder: ChainRow, input: string, bucket: string, cookie: string | null): Promise<string>
  /** Folders that the cookie unlocks; none when it was altered or has expired. */
  grants(cookie: string | null): Viewer['grants']
}

const COOKIE = 'folder-cookie'
const NONCE = 'folder-nonce'

const cookiePayload = z.array(z.object({ f: z.number(), t: z.string(), e: z.number() }))
type Grant = z.infer<typeof cookiePayload>[number]

const noncePayload = z.object({ f: z.number(), e: z.number() })

export function createFolderPasswords(
  access: AccessControl,
  rates: RateLimits,
  signing: Signing,
  clock: Clock,
  random: Random,
): FolderPasswords {
  function readCookie(cookie: string | null): Grant[] {
    if (cookie === null) return []
    const found = cookiePayload.safeParse(signing.verify(COOKIE, cookie))
    return found.success ? found.data.filter((grant) => grant.e > clock.now()) : []
  }

  function isOurNonce(folder: FolderId, nonce: string): boolean {
    const found = noncePayload.safeParse(signing.verify(NONCE, nonce))
    return found.success && found.data.f === folder && found.data.e > clock.now()
  }

  /**
   * The password itself: plain, or decoded from base64 of `password|epoch_ms|nonce` when the nonce was signed
   * here. Accepts either alphabet of base64, with or without padding. A plus sent unescaped in a form arrives
   * as a space.
   */
  function decode(folder: FolderId, input: string): string {
    if (!/^[A-Za-z0-9+/_ -]+={0,2}$/.test(input)) return input
    const text = Buffer.from(input.replaceAll(' ', '+'), 'base64').toString('utf8')
    const [, password, nonce] = /^(.*)\|\d+\|([^|]+)$/s.exec(text) ?? []
    return password !== undefined && nonce !== undefined && isOurNonce(folder, nonce) ? password : input
  }

  function guess(folder: FolderId, bucket: string, work: () => Promise<void>): Promise<void> {
    const windows = [
      { subject: `password:${folder}:${bucket}`, limit: TRIES_PER_ADDRESS, length: 15 * MINUTE },
      { subject: `password:${folder}`, limit: TRIES_PER_FOLDER, length: HOUR },
    ] as const
    return tryOnce(rates, windows, 'Too many wrong passwords; wait a while and try again', work)
  }

  return {
    nonce: (folder) =>
      signing.sign(NONCE, {
        f: folder,
        e: clock.now() + UNLOCKED_FOR,
        r: Buffer.from(random(9)).toString('base64url'),
      }),

    async unlock(folder, input, bucket, cookie) {
      const { password_hash: hash } = folder
      if (hash === null) return cookie ?? signing.sign(COOKIE, [])
      await guess(folder.id, bucket, async () => {
        if (await verifyPassword(decode(folder.id, input), hash)) return
        throw new Refusal('WRONG_PASSWORD', 'Wrong password; check it and try again')
      })
      const others = readCookie(cookie).filter((grant) => grant.f !== folder.id)
      const grant = {
        f: folder.id,
        t: access.passwordTag(folder.id, hash),
        e: clock.now() + UNLOCKED_FOR,
      }
      return signing.sign(COOKIE, [...others, grant].slice(-MOST_GRANTS))
    },

    grants: (cookie) => new Map(readCookie(cookie).map((grant) => [grant.f as FolderId, grant.t])),
  }
}
