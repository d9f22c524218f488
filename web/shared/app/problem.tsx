/** An error message; renders nothing without one. */
export function ProblemMessage({ text }: { text: string | null }) {
  if (text === null) return null
  return (
    <p className="failure" role="alert">
      {text}
    </p>
  )
}
