import { useState } from 'react'
import { RequestFailure } from '../start/answers.ts'
import { type AppTexts, useApp } from './app-context.ts'
import { fill } from './words.ts'

/** Something that a form asks the server for: it says what is in the way. */
export function useAttempt() {
  const { texts, prove } = useApp()
  const [problem, setProblem] = useState<string | null>(null)
  const [isBusy, setIsBusy] = useState(false)

  /** Where the server wants to know that it is still them, they are asked, and then it is tried once more. */
  async function proved<T>(act: () => Promise<T>): Promise<{ readonly result: T } | null> {
    try {
      return { result: await act() }
    } catch (error) {
      const isAsked = error instanceof RequestFailure && error.answer?.code === 'REAUTHENTICATION_REQUIRED'
      if (!isAsked) throw error
      return (await prove()) ? { result: await act() } : null
    }
  }

  /** `then`: once it is done. */
  async function attempt<T>(act: () => Promise<T>, then: (result: T) => void): Promise<void> {
    setIsBusy(true)
    setProblem(null)
    try {
      const done = await proved(act)
      if (done !== null) then(done.result)
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
