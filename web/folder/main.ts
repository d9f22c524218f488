import { readPageData } from '../shared/page-data.ts'
import type { FolderPageData } from './data.ts'

document.documentElement.dataset.scripted = readPageData<FolderPageData>().locale
