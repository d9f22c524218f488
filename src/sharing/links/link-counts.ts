import { type LinkDownload, lockOwner, noteDownload, type OwnedLink } from '../../core/link-events.rows.ts'
import type { Database } from '../../database/database.ts'
import { inTransaction } from '../../database/transactions.ts'
import type { Clock } from '../../domain/clock.ts'
import type { LinkId } from '../../domain/ids.ts'
import type { ByteClaims, DownloadedBytes } from './byte-claims.ts'
import { addDownloads } from './link-claims.rows.ts'

export interface LinkCounts {
  /** Counts a download from byte 0, unless less than half of it was sent, and notifies at its end. */
  of(link: OwnedLink, what: DownloadedBytes): ByteClaims
  /** Writes the counts. Those that could not be written are kept for the next flush. */
  flush(): Promise<void>
}

interface EndedDownload extends LinkDownload {
  readonly endedAt: number
}

interface Unwritten {
  readonly link: OwnedLink
  /** Downloads begun, less those that ended too early. */
  count: number
  readonly over: EndedDownload[]
}

/** Notified singly, of the downloads of a link that ended within a second. */
const MOST_ALONE = 20

export function createLinkCounts(db: Database, clock: Clock): LinkCounts {
  const unwritten = new Map<LinkId, Unwritten>()

  function of(link: OwnedLink): Unwritten {
    const present = unwritten.get(link.id)
    if (present !== undefined) return present
    const made: Unwritten = { link: { id: link.id, account: link.account }, count: 0, over: [] }
    unwritten.set(link.id, made)
    return made
  }

  function write({ link, count, over }: Unwritten): Promise<void> {
    return inTransaction(db, async (trx) => {
      if (over.length > 0) await lockOwner(trx, link.account)
      await addDownloads(trx, link.id, count)
      for (const download of over) await noteDownload(trx, link, download, clock.now())
    })
  }

  return {
    of: (link, what) => ({
      async begin({ start, end, whole }) {
        if (start === 0) of(link).count += 1
        return {
          end(unsent) {
            if (start > 0) return
            if (unsent * 2 > whole) of(link).count -= 1
            else addTo(of(link).over, { times: 1, bytes: end - unsent, endedAt: clock.now(), ...what })
          },
        }
      },
    }),

    async flush() {
      const all = [...unwritten.values()].sort((a, b) => a.link.id - b.link.id)
      unwritten.clear()
      for (const [at, each] of all.entries()) {
        try {
          await write(each)
        } catch (error) {
          for (const left of all.slice(at)) {
            const present = of(left.link)
            present.count += left.count
            for (const download of left.over) addTo(present.over, download)
          }
          throw error
        }
      }
    },
  }
}

/** Beyond the first ones only sums are kept, in one more entry. */
function addTo(over: EndedDownload[], download: EndedDownload): void {
  if (over.length < MOST_ALONE) {
    over.push(download)
    return
  }
  const rest = over[MOST_ALONE] ?? { times: 0, bytes: 0 }
  const [times, bytes] = [rest.times + download.times, rest.bytes + download.bytes]
  over[MOST_ALONE] = { times, bytes, endedAt: download.endedAt, file: null, address: null }
}
