import { mayGoInParts, partRanges } from '../../../src/client/policy/parts-policy.ts'
import { RequestFailure } from '../answers.ts'
import { newId } from '../new-id.ts'
import {
  type AnnouncedUpload,
  announcePart,
  announceUpload,
  announceWhole,
  type Created,
  takeBack,
  type UploadPart,
} from '../server.ts'
import type { TransferWay } from '../transfer-way.ts'

/** An upload of which nothing has been sent. */
export interface FreshUpload {
  readonly created: Created
  /** Null for one that goes in one piece. */
  readonly parts: readonly UploadPart[] | null
}

/** Makes the link of one upload, and its parts first where it is to go over several connections. */
export class Announcing {
  readonly #way: TransferWay
  /** Of the same upload in each try. */
  readonly #key = newId()
  #inParts: boolean | null = null
  /** The addresses of its parts, as far as there are some. */
  #parts: (string | null)[] = []

  constructor(way: TransferWay) {
    this.#way = way
  }

  /** May be called again after a failure, and goes on with what it has. Throws RequestFailure. */
  async announce(upload: AnnouncedUpload): Promise<FreshUpload> {
    this.#inParts ??= await this.#goesInParts(upload)
    if (this.#inParts) {
      try {
        return await this.#announceInParts(upload)
      } catch (error) {
        if (!(error instanceof RequestFailure) || !refuses(error.answer)) throw error
        // So many parts may be what is refused.
        this.#inParts = false
        this.end()
      }
    }
    return { created: await announceUpload(this.#way.to, upload), parts: null }
  }

  /** Ends parts that belong to no upload. Where the server cannot be told, they expire by themselves. */
  end(): void {
    for (const address of this.#parts) {
      if (address !== null) void takeBack(this.#way.to, { address }).catch(() => {})
    }
    this.#parts = []
  }

  async #goesInParts({ size }: AnnouncedUpload): Promise<boolean> {
    const { to, connections, longLine } = this.#way
    // A link takes each file in one piece.
    if (to.link !== undefined || !mayGoInParts(size, connections.each())) return false
    return longLine.isLong()
  }

  async #announceInParts(upload: AnnouncedUpload): Promise<FreshUpload> {
    const { to } = this.#way
    const ranges = partRanges(upload.size)
    const tries = await Promise.allSettled(
      ranges.map(async ({ from, to: end }, number) => {
        this.#parts[number] ??= await announcePart(to, end - from)
        return { address: this.#parts[number], length: end - from, offset: 0 }
      }),
    )
    const failed = tries.find((tried) => tried.status === 'rejected')
    if (failed !== undefined) throw failed.reason
    const parts = tries.flatMap((tried) => (tried.status === 'fulfilled' ? [tried.value] : []))
    const created = await announceWhole(to, upload, parts, this.#key)
    this.#parts = []
    return { created, parts }
  }
}

/** Whether what was asked for is in the way, and not the state of the server. */
function refuses(answer: RequestFailure['answer']): boolean {
  return answer !== null && answer.status < 500
}
