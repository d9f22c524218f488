import { useEffect, useRef } from 'react'

/** For the field that a problem is about, which gets the focus with it. */
export function useProblemField(problem: string | null) {
  const field = useRef<HTMLInputElement>(null)
  useEffect(() => {
    if (problem !== null) field.current?.focus()
  }, [problem])
  return field
}
