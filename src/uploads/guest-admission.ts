import type { Config } from '../config.ts'
import type { Sender } from '../core/callers.ts'
import type { Signing } from '../core/hmac.ts'
import type { RateLimits, Verdict } from '../core/rate-limits/rate-limits.ts'
import { HOUR } from '../domain/clock.ts'
import { Refusal } from '../domain/errors.ts'
import { formatSize } from '../domain/sizes.ts'

/** Throws Refusal. `bucket`: the address. Partial uploads count once, as their final upload. */
export type AdmitGuest = (bucket: string, intoFolder: boolean, isPartial?: boolean) => Promise<void>

/** Throws Refusal at guests' limit. */
export type AdmitContributor = (bucket: string) => Promise<void>

/** Applies where guests may not upload, too: the link's owner has invited contributors. */
export function createContributorAdmission(
  rates: RateLimits,
  { guestRateLimit }: Pick<Config, 'guestRateLimit'>,
): AdmitContributor {
  return async (bucket) => {
    assertWithin(await rates.take(`guest:${bucket}`, 1, guestRateLimit, HOUR))
  }
}

function assertWithin({ allowed, limit, resetsIn }: Verdict): void {
  if (allowed) return
  throw new Refusal('RATE_LIMITED', `Guests may upload ${limit} files an hour; try again later`, resetsIn)
}

/** Partial uploads of one file: as many as our own client starts. */
const PARTIAL_EACH = 32

export function createGuestAdmission(
  rates: RateLimits,
  { guestUploads, guestRateLimit }: Pick<Config, 'guestUploads' | 'guestRateLimit'>,
): AdmitGuest {
  return async (bucket, intoFolder, isPartial = false) => {
    if (intoFolder) {
      throw new Refusal('INVALID_API_KEY', 'Uploading into a folder needs an API key')
    }
    if (!guestUploads) {
      throw new Refusal(
        'GUEST_UPLOADS_DISABLED',
        'Guests cannot upload to this server; sign in, or send an API key',
      )
    }
    if (!isPartial) return assertWithin(await rates.take(`guest:${bucket}`, 1, guestRateLimit, HOUR))
    assertWithin(await rates.look(`guest:${bucket}`, 1, guestRateLimit, HOUR))
    const most = guestRateLimit * PARTIAL_EACH
    const { allowed, limit, resetsIn } = await rates.take(`guest-parts:${bucket}`, 1, most, HOUR)
    if (allowed) return
    const message = `Guests may start ${limit} parts of uploads an hour; try again later`
    throw new Refusal('RATE_LIMITED', message, resetsIn)
  }
}

/** A keyed hash of a guest's address or network: equal for equal addresses, reveals nothing else. */
export function guestAddress(signing: Signing, bucket: string): string {
  return signing.tag('guest address', bucket)
}

/** Part of the bytes that a guest's address may send in an hour. Accounts have no such limit. */
export interface GuestBudget {
  /** Throws Refusal RATE_LIMITED when fewer bytes are left. Takes nothing. */
  check(bytes: number): Promise<void>
  /** Returns the bytes when the work fails. Throws Refusal RATE_LIMITED, and then takes nothing. */
  spend<T>(bytes: number, work: () => Promise<T>): Promise<T>
  /** Returns all but `bytes` of what was taken. */
  settle(bytes: number): Promise<void>
}

const unlimited: GuestBudget = {
  async check() {},
  spend: (_, work) => work(),
  async settle() {},
}

export function guestBudget(caller: Sender, rates: RateLimits, hourly: number): GuestBudget {
  return caller.kind === 'account'
    ? unlimited
    : new HourlyBudget(`guest-bytes:${caller.bucket}`, rates, hourly)
}

class HourlyBudget implements GuestBudget {
  readonly #subject: string
  readonly #rates: RateLimits
  readonly #hourly: number
  /** By window: an upload may outlast the hour it began in. */
  readonly #takings: { readonly openedAt: number; bytes: number }[] = []

  constructor(subject: string, rates: RateLimits, hourly: number) {
    this.#subject = subject
    this.#rates = rates
    this.#hourly = hourly
  }

  async check(bytes: number): Promise<void> {
    this.#assertAllowed(await this.#rates.look(this.#subject, bytes, this.#hourly, HOUR), bytes)
  }

  async spend<T>(bytes: number, work: () => Promise<T>): Promise<T> {
    const verdict = await this.#rates.take(this.#subject, bytes, this.#hourly, HOUR)
    this.#assertAllowed(verdict, bytes)
    this.#takings.push({ openedAt: verdict.openedAt, bytes })
    try {
      return await work()
    } catch (error) {
      await this.#release(bytes)
      throw error
    }
  }

  async settle(bytes: number): Promise<void> {
    const taken = this.#takings.reduce((sum, taking) => sum + taking.bytes, 0)
    await this.#release(taken - bytes)
  }

  #assertAllowed({ allowed, resetsIn }: Verdict, bytes: number): void {
    if (allowed) return
    const remedy =
      bytes > this.#hourly ? 'this is more than that at once, and needs an account' : 'try again later'
    const message = `Guests may upload ${formatSize(this.#hourly)} an hour; ${remedy}`
    throw new Refusal('RATE_LIMITED', message, resetsIn)
  }

  async #release(bytes: number): Promise<void> {
    for (let left = bytes; left > 0; ) {
      const last = this.#takings.at(-1)
      if (last === undefined) return
      const part = Math.min(left, last.bytes)
      last.bytes -= part
      left -= part
      if (last.bytes === 0) this.#takings.pop()
      await this.#rates.giveBack(this.#subject, part, last.openedAt)
    }
  }
}
