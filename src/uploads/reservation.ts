import { Refusal } from '../domain/errors.ts'
import { type AccountId, GUESTS } from '../domain/ids.ts'

const FIRST_STEP = 8 * 1024 * 1024
const LARGEST_STEP = 256 * 1024 * 1024

/** A guest's upload is promised no more than this beyond what it has sent: a promise costs nothing and keeps others out. */
export const GUEST_STEP = 8 * 1024 * 1024

/** Storage reserved for one upload before its bytes come, so that they never pass a limit. Grows in steps. */
export class Reservation {
  readonly #account: AccountId
  readonly #most: number
  readonly #reserve: (bytes: number) => Promise<void>
  #bytes: number

  /**
   * `bytes`: what is reserved already; `most`: what it may come to in all. `reserve` reserves so many bytes more, or
   * throws and changes nothing.
   */
  constructor(parts: {
    account: AccountId
    bytes: number
    most: number
    reserve: (bytes: number) => Promise<void>
  }) {
    this.#account = parts.account
    this.#most = parts.most
    this.#reserve = parts.reserve
    this.#bytes = parts.bytes
  }

  get bytes(): number {
    return this.#bytes
  }

  /** Makes sure of `bytes` in all before they are written. Throws what `reserve` throws. */
  async cover(bytes: number): Promise<void> {
    const missing = bytes - this.#bytes
    if (missing > 0) await this.add(missing, Math.max(missing, this.#nextStep()))
  }

  /** Adds `wanted` bytes, or `least` where there are not that many. */
  async add(least: number, wanted: number): Promise<void> {
    try {
      await this.#add(wanted)
    } catch (error) {
      if (!(error instanceof Refusal) || least >= wanted) throw error
      await this.#add(least)
    }
  }

  async #add(bytes: number): Promise<void> {
    await this.#reserve(bytes)
    this.#bytes += bytes
  }

  /** The more is reserved, the larger the next step, but for guests. */
  #nextStep(): number {
    const step =
      this.#account === GUESTS ? GUEST_STEP : Math.min(LARGEST_STEP, Math.max(FIRST_STEP, this.#bytes))
    return Math.min(step, Math.max(0, this.#most - this.#bytes))
  }
}
