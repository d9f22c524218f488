import { useState } from 'react'
import { RequestFailure } from '../start/answers.ts'
import { type AppTexts, useApp } from './app-context.ts'
import { fill } from './words.ts'

/** Something that a form asks the server for: it says what is in the way. */
export function useAttempt() {
  const { texts } = useApp()
  const [problem, setProblem] = useState<string | null>(null)
  const [isBusy, setIsBusy] = useState(false)

  /** `then`: once it is done. */
  async function attempt<T>(act: () => Promise<T>, then: (result: T) => void): Promise<void> {
    setIsBusy(true)
    setProblem(null)
    try {
      then(await act())
    } catch (error) {
      setProblem(problemText(error, texts))
    }
    setIsBusy(false)
  }

  return { problem, isBusy, attempt, setProblem }
}

/** What a person can do about it, as an error of its own. */
export class Hindrance extends Error {}

function problemText(error: unknown, texts: AppTexts): string {
  if (error instanceof Hindrance) return error.message
  const answer = error instanceof RequestFailure ? error.answer : null
  if (answer?.code == null || answer.status >= 500) return texts.notReached
  return texts.reasons[answer.code] ?? fill(texts.otherReason, { code: answer.code })
}
