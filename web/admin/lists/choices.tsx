import { withAsked } from './address.ts'

interface ChoicesProps<T extends string> {
  /** What is chosen between. */
  readonly label: string
  /** In the address. */
  readonly name: string
  readonly choices: readonly T[]
  readonly chosen: T
  readonly texts: Readonly<Record<T, string>>
}

/** Links to the same page with another choice. */
export function Choices<T extends string>({ label, name, choices, chosen, texts }: ChoicesProps<T>) {
  return (
    <nav aria-label={label} className="page-nav">
      {choices.map((choice) => (
        <a aria-current={choice === chosen ? 'true' : undefined} href={withAsked(name, choice)} key={choice}>
          {texts[choice]}
        </a>
      ))}
    </nav>
  )
}
