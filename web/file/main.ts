import { readPageData } from '../shared/page-data.ts'
import type { FilePageData } from './data.ts'

document.documentElement.dataset.scripted = readPageData<FilePageData>().locale
