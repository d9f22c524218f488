import type { Database } from '../database/database.ts'
import type { AllFilesSort } from '../domain/administration.ts'
import { countLiveFiles } from '../files/file-removal.rows.ts'
import { type AnyFileRow, pageOfAllFiles } from './all-files.rows.ts'

export type AnyFile = AnyFileRow

export interface AllFiles {
  list(
    sort: AllFilesSort,
    page: number,
    perPage: number,
  ): Promise<{ readonly files: readonly AnyFile[]; readonly total: number }>
}

export function createAllFiles(db: Database): AllFiles {
  return {
    async list(sort, page, perPage) {
      const files = await pageOfAllFiles(db, sort, (page - 1) * perPage, perPage)
      return { files, total: await countLiveFiles(db) }
    },
  }
}
