import { useEffect, useState } from 'react'
import { fillingOf, PAUSE, type Strength, strengthOf } from '../shared/strength.ts'
import { useSettings } from './settings-context.ts'

interface StrengthMeterProps {
  readonly password: string
  /** What everybody knows of its owner. */
  readonly known: readonly string[]
}

/** How good a password is, while it is typed. It never leaves the browser for that. */
export function StrengthMeter({ password, known }: StrengthMeterProps) {
  const { strength: texts } = useSettings().texts.password
  const [strength, setStrength] = useState<Strength | null>(null)
  const facts = known.join('\n')

  useEffect(() => {
    let isLate = false
    const judge = async () => {
      const judged = await strengthOf(password, facts.split('\n'))
      if (!isLate) setStrength(judged)
    }
    const timer = setTimeout(() => void judge(), PAUSE)
    return () => {
      isLate = true
      clearTimeout(timer)
    }
  }, [password, facts])

  return (
    <div className="strength" data-filling={strength === null ? 0 : fillingOf[strength]}>
      <div aria-hidden="true" className="strength-bar" />
      <p className="small" role="status">
        {strength === null ? '' : texts[strength]}
      </p>
    </div>
  )
}
