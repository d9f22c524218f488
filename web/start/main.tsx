import { hydrateRoot } from 'react-dom/client'
import { enableCopy } from '../shared/copy-button.ts'
import { ownAccount } from '../shared/own-account.ts'
import { readPageData } from '../shared/page-data.ts'
import { createEngine } from '../uploads/engine.ts'
import { byItself, type Picked } from '../uploads/picked.ts'
import { openReceiptStore } from '../uploads/receipts.ts'
import type { Destination } from '../uploads/server.ts'
import { storage } from '../uploads/storage.ts'
import { noAnswers, openAnswers } from './answers.ts'
import { START_APP, type StartPageData } from './data.ts'
import { StartApp } from './start-app.tsx'
import { CurrentTransfer } from './transfer/current-transfer.ts'

const data = readPageData<StartPageData>()
const { link } = data
const answers = link === null ? noAnswers : openAnswers(link.slug)
const receipts = openReceiptStore(storage(), link?.slug ?? null)
const transfer = new CurrentTransfer(receipts)
const to: Destination =
  link === null
    ? { headers: ownAccount(), transfer }
    : { headers: {}, link: { slug: link.slug, answers: answers.all } }
const engine = createEngine(async () => {
  const { openUploadList } = await import('../uploads/uploads.ts')
  if (link !== null) return openUploadList({ to, sort: 'link', limit: data.maxFileSize })
  const opened = (window: string) => transfer.open(window)
  const list = await openUploadList({ to, sort: 'guest', limit: data.maxFileSize, opened })
  transfer.opened(list.snapshot().items)
  list.subscribe(() => transfer.observe(list.snapshot().items))
  return list
})

enableCopy(document)
const root = document.getElementById(START_APP)
if (root !== null && data.guestUploads) {
  const early = takeEarlyFiles(root)
  hydrateRoot(
    root,
    <StartApp
      answers={answers}
      data={data}
      early={early}
      engine={engine}
      receipts={receipts}
      transfer={transfer}
    />,
  )
  whenIdle(engine.open)
}

/** What was chosen before the script was there is in the field of the form. */
function takeEarlyFiles(form: HTMLElement): readonly Picked[] {
  const field = form.querySelector<HTMLInputElement>('input[type="file"]')
  const files = [...(field?.files ?? [])]
  if (field !== null) field.value = ''
  return files.map(byItself)
}

function whenIdle(act: () => void): void {
  if ('requestIdleCallback' in window) requestIdleCallback(act, { timeout: 2000 })
  else setTimeout(act, 200)
}
