import { createRoot } from 'react-dom/client'
import { watchNotice } from '../shared/app/notice.ts'
import { showPresentSection } from '../shared/app/section-links.ts'
import { readPageData } from '../shared/page-data.ts'
import { AdminApp } from './admin-app.tsx'
import { ADMIN_APP, type AdminPageData } from './data.ts'

const root = document.getElementById(ADMIN_APP)
if (root !== null) createRoot(root).render(<AdminApp data={readPageData<AdminPageData>()} />)
watchNotice()
showPresentSection()
