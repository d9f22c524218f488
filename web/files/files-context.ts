import { createContext, useContext } from 'react'
import type { Words } from '../shared/words.ts'
import type { Commands } from './commands.ts'
import type { FilesPageData } from './data.ts'
import type { Manager, Shown } from './manager.ts'

/** What every part of the file manager works with. */
export interface Files {
  readonly data: FilesPageData
  readonly texts: FilesPageData['texts']
  readonly words: Words
  readonly shown: Shown
  readonly manager: Manager
  readonly commands: Commands
}

export const FilesContext = createContext<Files | null>(null)

export function useFiles(): Files {
  const files = useContext(FilesContext)
  if (files === null) throw new Error('this is a part of the file manager')
  return files
}
