import { mayGoInParts, partLengths } from '../../../src/client/policy/parts-policy.ts'
import { RequestFailure } from '../answers.ts'
import { newId } from '../new-id.ts'
import { type AnnouncedUpload, announceInParts, announceUpload, type FreshUpload } from '../server.ts'
import type { TransferContext } from '../transfer-context.ts'

export class Announcing {
  readonly #way: TransferContext
  /** One idempotency key for all tries. */
  readonly #key = newId()
  #inParts: boolean | null = null

  constructor(way: TransferContext) {
    this.#way = way
  }

  /** Repeatable after a failure. Throws RequestFailure. */
  async announce(upload: AnnouncedUpload): Promise<FreshUpload> {
    const { to } = this.#way
    this.#inParts ??= await this.#goesInParts(upload)
    if (!this.#inParts) return announceUpload(to, upload)
    try {
      return await announceInParts(to, upload, partLengths(upload.size), this.#key)
    } catch (error) {
      if (!(error instanceof RequestFailure) || !refuses(error.answer)) throw error
      // The parts may be what the server refuses.
      this.#inParts = false
      return announceUpload(to, upload)
    }
  }

  async #goesInParts({ size }: AnnouncedUpload): Promise<boolean> {
    const { to, connections, longLine } = this.#way
    // Upload links take each file in one piece.
    if (to.link !== undefined || !mayGoInParts(size, connections.each())) return false
    return longLine.isLong()
  }
}

function refuses(answer: RequestFailure['answer']): boolean {
  return answer !== null && answer.status < 500
}
