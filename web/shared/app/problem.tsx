/** An error message; renders nothing without one. */
export function ProblemMessage({ text, isSmall = false }: { text: string | null; isSmall?: boolean }) {
  if (text === null) return null
  return (
    <p className={isSmall ? 'failure small' : 'failure'} role="alert">
      {text}
    </p>
  )
}
