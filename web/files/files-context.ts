import { createContext, useContext } from 'react'
import type { Words } from '../shared/words.ts'
import type { Commands } from './commands.ts'
import type { FilesPageData } from './data.ts'
import type { Manager } from './manager.ts'
import type { ManagerView } from './manager-view.ts'

export interface FilesContextValue {
  readonly data: FilesPageData
  readonly texts: FilesPageData['texts']
  readonly words: Words
  readonly shown: ManagerView
  readonly manager: Manager
  readonly commands: Commands
  /** Registers how Back closes the open menu. */
  readonly setLeaveMenu: (leave: (() => void) | null) => void
}

export const FilesContext = createContext<FilesContextValue | null>(null)

export function useFiles(): FilesContextValue {
  const files = useContext(FilesContext)
  if (files === null) throw new Error('this is a part of the file manager')
  return files
}
