import { Refusal } from '../domain/errors.ts'
import { type AccountId, GUESTS } from '../domain/ids.ts'

const FIRST_STEP = 8 * 1024 * 1024
const LARGEST_STEP = 256 * 1024 * 1024

/** Limits what a guest reserves ahead: it costs the guest nothing and blocks others. */
export const GUEST_STEP = 8 * 1024 * 1024

/** Grows in steps, ahead of the bytes, so that they never pass a limit. */
export class Reservation {
  readonly #account: AccountId
  readonly #most: number
  readonly #reserve: (bytes: number) => Promise<void>
  #bytes: number

  /** `bytes`: reserved already; `most`: limit. `reserve` throws and changes nothing, or adds bytes. */
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

  /** Call before writing. Throws what `reserve` throws. */
  async cover(bytes: number): Promise<void> {
    const missing = bytes - this.#bytes
    if (missing > 0) await this.add(missing, Math.max(missing, this.#nextStep()))
  }

  /** Adds `wanted` bytes, or `least` if there are fewer. */
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

  #nextStep(): number {
    const step =
      this.#account === GUESTS ? GUEST_STEP : Math.min(LARGEST_STEP, Math.max(FIRST_STEP, this.#bytes))
    return Math.min(step, Math.max(0, this.#most - this.#bytes))
  }
}
