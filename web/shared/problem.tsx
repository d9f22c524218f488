/** What is in the way of what was asked for; nothing while nothing is. */
export function Problem({ text }: { text: string | null }) {
  if (text === null) return null
  return (
    <p className="failure" role="alert">
      {text}
    </p>
  )
}
