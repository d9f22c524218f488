import { useEffect, useRef } from 'react'

export function useProblemField(problem: string | null) {
  const field = useRef<HTMLInputElement>(null)
  useEffect(() => {
    if (problem !== null) field.current?.focus()
  }, [problem])
  return field
}
