import { useRef, useState } from 'react'
import { RequestFailure } from '../../uploads/answers.ts'
import { refusedRequest } from '../fetch-json.ts'
import { fill } from '../words.ts'
import { type AppTexts, useApp } from './app-context.ts'

export function useAttempt() {
  const { texts, prove } = useApp()
  const [problem, setProblem] = useState<string | null>(null)
  const [code, setCode] = useState<string | null>(null)
  const [isBusy, setIsBusy] = useState(false)
  const isUnderWay = useRef(false)

  async function proved<T>(act: () => Promise<T>): Promise<{ readonly result: T } | null> {
    try {
      return { result: await act() }
    } catch (error) {
      const isAsked = error instanceof RequestFailure && error.answer?.code === 'REAUTHENTICATION_REQUIRED'
      if (!isAsked) throw error
      return (await prove()) ? { result: await act() } : null
    }
  }

  /** Stays busy until `then` is done, so that the user does not act on old data. */
  async function attempt<T>(act: () => Promise<T>, then: (result: T) => void | Promise<void>): Promise<void> {
    // A second click, where nothing disables the button.
    if (isUnderWay.current) return
    isUnderWay.current = true
    setIsBusy(true)
    setProblem(null)
    setCode(null)
    try {
      const done = await proved(act)
      if (done !== null) await then(done.result)
    } catch (error) {
      setProblem(problemText(error, texts))
      setCode(refusedRequest(error))
    }
    isUnderWay.current = false
    setIsBusy(false)
  }

  // Shown at the password field alone.
  const isOfPassword = code === 'WRONG_PASSWORD'
  const passwordProblem = isOfPassword ? problem : null
  return { problem: isOfPassword ? null : problem, passwordProblem, isBusy, attempt, setProblem }
}

export class AttemptFailure extends Error {}

function problemText(error: unknown, texts: AppTexts): string {
  if (error instanceof AttemptFailure) return error.message
  const answer = error instanceof RequestFailure ? error.answer : null
  if (answer?.code == null || answer.status >= 500) return texts.notReached
  return texts.reasons[answer.code] ?? fill(texts.otherReason, { code: answer.code })
}
