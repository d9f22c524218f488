import { useState } from 'react'
import { fill } from '../shared/words.ts'
import { refusalOf } from './ask.ts'
import { useFiles } from './files-context.ts'
import type { FilesTexts } from './texts.ts'

/** Something that a dialog asks the server for: it stays open until it is done, and says what is in the way. */
export function useAttempt() {
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
      setProblem(problemText(error, texts))
    }
    setIsBusy(false)
  }

  return { problem, isBusy, attempt }
}

function problemText(error: unknown, { dialogs, operations }: FilesTexts): string {
  const code = refusalOf(error)
  if (code === null) return dialogs.notReached
  return operations.reasons[code] ?? fill(operations.otherReason, { code })
}
