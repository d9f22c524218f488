import { createRoot } from 'react-dom/client'
import { watchNotice } from '../shared/app/notice.ts'
import { ownAccount } from '../shared/own-account.ts'
import { readPageData } from '../shared/page-data.ts'
import { createEngine } from '../uploads/engine.ts'
import { FILES_APP, type FilesPageData } from './data.ts'
import { FilesApp } from './files-app.tsx'
import { Manager } from './manager.ts'
import { createPreferences } from './preferences.ts'

const data = readPageData<FilesPageData>()
const preferences = createPreferences()
const manager = new Manager(preferences.read())
const engine = createEngine(async () => {
  const { openUploadList } = await import('../uploads/uploads.ts')
  return openUploadList({
    to: { headers: ownAccount() },
    sort: 'account',
    limit: data.maxFileSize,
  })
})

const root = document.getElementById(FILES_APP)
if (root !== null) {
  createRoot(root).render(
    <FilesApp data={data} engine={engine} manager={manager} preferences={preferences} />,
  )
  watchNotice()
}
