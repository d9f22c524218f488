import { type AnyFileRow, pageOfAllFiles } from '../database/all-files.ts'
import { countLiveFiles } from '../database/file-removal.ts'
import type { Db } from '../database/schema.ts'
import type { AllFilesSort } from '../domain/administration.ts'

export type AnyFile = AnyFileRow

/** The files of everybody, for administrators. */
export interface AllFiles {
  /** A page, the newest or the largest first. */
  list(
    sort: AllFilesSort,
    page: number,
    perPage: number,
  ): Promise<{ readonly files: readonly AnyFile[]; readonly total: number }>
}

export function createAllFiles(db: Db): AllFiles {
  return {
    async list(sort, page, perPage) {
      const files = await pageOfAllFiles(db, sort, (page - 1) * perPage, perPage)
      return { files, total: await countLiveFiles(db) }
    },
  }
}
