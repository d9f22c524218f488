/** Keeps the receipts of this browser in step with the page of one, and lets it remember one from elsewhere. */
import { enableCopy } from '../shared/copy-button.ts'
import { showLocalDays } from '../shared/local-days.ts'
import { readPageData } from '../shared/page-data.ts'
import { sendFormsOnce } from '../shared/send-once.ts'
import { openReceiptStore } from '../uploads/receipts.ts'
import { storage } from '../uploads/storage.ts'
import type { ReceiptPageData } from './data.ts'

const { receipt, isOver, kept: facts, asking, texts } = readPageData<ReceiptPageData>()
const kept = storage()
const receipts = openReceiptStore(kept, asking)
const known = receipts.list().find((each) => each.receipt === receipt)
showLocalDays()
enableCopy(document)
sendFormsOnce()
if (isOver) {
  if (known !== undefined) receipts.remove(known.link)
} else if (facts !== null) {
  if (known === undefined) offer(facts)
  else if (known.name !== facts.name) receipts.rename(known.link, facts.name)
}

function offer({ at, ...rest }: NonNullable<typeof facts>): void {
  const place = document.getElementById('remember')
  const button = place?.querySelector('button')
  const said = place?.querySelector('p')
  if (!place || !button || !said) return
  place.hidden = false
  button.addEventListener('click', () => {
    receipts.add({ ...rest, receipt, at: Date.parse(at) })
    const isKept = openReceiptStore(kept)
      .list()
      .some((each) => each.receipt === receipt)
    said.textContent = isKept ? texts.remembered : texts.rememberFailed
    button.hidden = isKept
  })
}
