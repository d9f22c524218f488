import { ClaimPanel } from '../uploads/claims/claim-panel.tsx'
import type { View } from '../uploads/list/view.ts'
import type { ReceiptStore } from '../uploads/receipts.ts'

interface ClaimOfferProps {
  readonly receipts: ReceiptStore
  readonly view: View
  readonly changed: () => void
}

/** What was uploaded here without an account, for whoever is signed in now. */
export function ClaimOffer({ receipts, view: { texts, words }, changed }: ClaimOfferProps) {
  return (
    <ClaimPanel
      changed={changed}
      className="claim-offer"
      receipts={receipts}
      texts={texts.claim}
      words={words}
    />
  )
}
