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

const data = readPageData<StartPageData>()
const { link } = data
const answers = link === null ? noAnswers : openAnswers(link.slug)
const to: Destination =
  link === null
    ? { headers: ownAccount(), keepsFolders: false }
    : { headers: {}, keepsFolders: true, link: { slug: link.slug, answers: answers.all } }
const engine = createEngine(async () => {
  const { openUploadList } = await import('../uploads/uploads.ts')
  return openUploadList({ to, sort: link === null ? 'guest' : 'link', limit: data.maxFileSize })
})

enableCopy(document)
const root = document.getElementById(START_APP)
if (root !== null && data.guestUploads) {
  const early = takeEarlyFiles(root)
  const receipts = openReceiptStore(storage(), link?.slug ?? null)
  hydrateRoot(
    root,
    <StartApp answers={answers} data={data} early={early} engine={engine} receipts={receipts} />,
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
