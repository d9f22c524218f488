import { hydrateRoot } from 'react-dom/client'
import { readPageData } from '../shared/page-data.ts'
import { createEngine } from '../uploads/engine.ts'
import { byItself } from '../uploads/picked.ts'
import { openReceiptStore } from '../uploads/receipts.ts'
import { storage } from '../uploads/storage.ts'
import { START_APP, type StartPageData } from './data.ts'
import { StartApp } from './start-app.tsx'

const data = readPageData<StartPageData>()
const guests = { headers: {}, keepsFolders: false }
const engine = createEngine(async () => {
  const { openUploadList } = await import('../uploads/uploads.ts')
  return openUploadList({ to: guests, sort: 'guest', limit: data.maxFileSize })
})

const root = document.getElementById(START_APP)
if (root !== null && data.guestUploads) {
  takeEarlyFiles(root)
  hydrateRoot(root, <StartApp data={data} engine={engine} receipts={openReceiptStore(storage())} />)
  whenIdle(engine.open)
}

/** What was chosen before the script was there is in the field of the form. */
function takeEarlyFiles(form: HTMLElement): void {
  const field = form.querySelector<HTMLInputElement>('input[type="file"]')
  const files = [...(field?.files ?? [])]
  if (field !== null) field.value = ''
  engine.add(files.map(byItself))
}

function whenIdle(act: () => void): void {
  if ('requestIdleCallback' in window) requestIdleCallback(act, { timeout: 2000 })
  else setTimeout(act, 200)
}
