import type { Entry } from './board.ts'
import type { Parts } from './runs.ts'
import { deleteByReceipt } from './server.ts'
import type { Deletion } from './upload-item.ts'

/** Deletes what this browser has uploaded as a guest, after it has asked: nobody can bring it back. */
export interface ReceiptDeletion {
  ask(entry: Entry): void
  keep(entry: Entry): void
  do(entry: Entry): void
}

export function createReceiptDeletion({ board, finished, receipts }: Parts): ReceiptDeletion {
  const stateOf = ({ item: { state } }: Entry) => (state.kind === 'done' ? state.deletion : null)

  function set(entry: Entry, deletion: Deletion): void {
    if (stateOf(entry) !== null) board.setState(entry, { kind: 'done', deletion })
  }

  async function carryOut(entry: Entry, link: string): Promise<void> {
    const receipt = receipts.find(link)
    set(entry, 'under way')
    try {
      // Without a receipt another tab has deleted it.
      if (receipt !== null) await deleteByReceipt(receipt.receipt)
    } catch {
      set(entry, 'failed')
      return
    }
    receipts.remove(link)
    finished.remove(entry.item)
    board.setState(entry, { kind: 'deleted' })
  }

  return {
    ask: (entry) => set(entry, 'asked'),
    keep: (entry) => set(entry, 'possible'),
    do(entry) {
      const { link } = entry.item
      if (link !== null && ['asked', 'failed'].includes(stateOf(entry) ?? '')) void carryOut(entry, link)
    },
  }
}
