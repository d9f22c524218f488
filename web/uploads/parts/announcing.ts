import { mayGoInParts, partLengths } from '../../../src/client/policy/parts-policy.ts'
import { RequestFailure } from '../answers.ts'
import { newId } from '../new-id.ts'
import { type AnnouncedUpload, announceInParts, announceUpload, type FreshUpload } from '../server.ts'
import type { TransferContext } from '../transfer-context.ts'

/** Makes the link of one upload, and its parts where it is to go over several connections. */
export class Announcing {
  readonly #way: TransferContext
  /** Of the same upload in each try. */
  readonly #key = newId()
  #inParts: boolean | null = null

  constructor(way: TransferContext) {
    this.#way = way
  }

  /** May be called again after a failure. Throws RequestFailure. */
  async announce(upload: AnnouncedUpload): Promise<FreshUpload> {
    const { to } = this.#way
    this.#inParts ??= await this.#goesInParts(upload)
    if (!this.#inParts) return announceUpload(to, upload)
    try {
      return await announceInParts(to, upload, partLengths(upload.size), this.#key)
    } catch (error) {
      if (!(error instanceof RequestFailure) || !refuses(error.answer)) throw error
      // So many parts may be what is refused.
      this.#inParts = false
      return announceUpload(to, upload)
    }
  }

  async #goesInParts({ size }: AnnouncedUpload): Promise<boolean> {
    const { to, connections, longLine } = this.#way
    // A link takes each file in one piece.
    if (to.link !== undefined || !mayGoInParts(size, connections.each())) return false
    return longLine.isLong()
  }
}

/** Whether what was asked for is in the way, and not the state of the server. */
function refuses(answer: RequestFailure['answer']): boolean {
  return answer !== null && answer.status < 500
}
