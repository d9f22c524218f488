import { createContext, useContext } from 'react'
import type { Words } from '../shared/words.ts'
import type { Commands } from './commands.ts'
import type { FilesPageData } from './data.ts'
import type { Manager } from './manager.ts'
import type { ManagerView } from './manager-view.ts'

/** What every part of the file manager works with. */
export interface FilesContextValue {
  readonly data: FilesPageData
  readonly texts: FilesPageData['texts']
  readonly words: Words
  readonly shown: ManagerView
  readonly manager: Manager
  readonly commands: Commands
  /** Tells what leaves the menu that is open, for Back; null when none is. */
  readonly setLeaveMenu: (leave: (() => void) | null) => void
}

export const FilesContext = createContext<FilesContextValue | null>(null)

export function useFiles(): FilesContextValue {
  const files = useContext(FilesContext)
  if (files === null) throw new Error('this is a part of the file manager')
  return files
}
