import { createRoot } from 'react-dom/client'
import { watchNotice } from '../shared/app/notice.ts'
import { showPresentSection } from '../shared/app/section-links.ts'
import { readPageData } from '../shared/page-data.ts'
import { SETTINGS_APP, type SettingsPageData } from './data.ts'
import { SettingsApp } from './settings-app.tsx'

const root = document.getElementById(SETTINGS_APP)
if (root !== null) createRoot(root).render(<SettingsApp data={readPageData<SettingsPageData>()} />)
watchNotice()
showPresentSection()
