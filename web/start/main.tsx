import { readPageData } from '../shared/page-data.ts'
import type { StartPageData } from './data.ts'

document.documentElement.dataset.scripted = readPageData<StartPageData>().locale
