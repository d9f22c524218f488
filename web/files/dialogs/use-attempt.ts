import { useState } from 'react'
import { refusedRequest } from '../../shared/fetch-json.ts'
import { useFiles } from '../files-context.ts'
import { failureText, reasonOf } from '../network-text.ts'
import type { FilesTexts } from '../texts.ts'

export function useListAttempt(reasons: Readonly<Record<string, string>> = {}) {
  const { texts } = useFiles()
  const [problem, setProblem] = useState<string | null>(null)
  const [isBusy, setIsBusy] = useState(false)

  async function attempt(act: () => Promise<void>, then: () => void): Promise<void> {
    setIsBusy(true)
    setProblem(null)
    try {
      await act()
      then()
    } catch (error) {
      setProblem(problemText(error, texts, reasons))
    }
    setIsBusy(false)
  }

  return { problem, isBusy, attempt }
}

export function problemText(
  error: unknown,
  texts: FilesTexts,
  reasons: Readonly<Record<string, string>> = {},
): string | null {
  const code = refusedRequest(error)
  return code === null ? failureText(error, texts) : (reasons[code] ?? reasonOf(code, texts))
}
