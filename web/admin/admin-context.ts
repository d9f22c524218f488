import { createContext, useContext } from 'react'
import { type AppTools, useApp } from '../shared/app/app-context.ts'
import type { AdminPageData } from './data.ts'

/** What every part of administration works with. */
interface Administration extends Pick<AppTools, 'words' | 'say'> {
  readonly data: AdminPageData
  readonly texts: AdminPageData['texts']
}

export const AdminContext = createContext<AdminPageData | null>(null)

export function useAdmin(): Administration {
  const { words, say } = useApp()
  const data = useContext(AdminContext)
  if (data === null) throw new Error('this is a part of administration')
  return { data, texts: data.texts, words, say }
}
