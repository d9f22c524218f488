import type { BoardEntry } from './board.ts'
import { deleteWithReceipt } from './server.ts'
import type { DeletionState } from './upload-item.ts'
import type { UploadRunContext } from './upload-runner.ts'

export interface ReceiptDeletion {
  ask(entry: BoardEntry): void
  keep(entry: BoardEntry): void
  do(entry: BoardEntry): void
}

export function createReceiptDeletion({ board, finished, receipts }: UploadRunContext): ReceiptDeletion {
  const stateOf = ({ item: { state } }: BoardEntry) => (state.kind === 'done' ? state.deletion : null)

  function set(entry: BoardEntry, deletion: DeletionState): void {
    if (stateOf(entry) !== null) board.setState(entry, { kind: 'done', deletion })
  }

  async function carryOut(entry: BoardEntry, link: string): Promise<void> {
    const receipt = entry.item.receipt ?? receipts.find(link)?.receipt
    set(entry, 'under way')
    try {
      // Without a receipt another tab has deleted it.
      if (receipt !== undefined) await deleteWithReceipt(receipt)
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
