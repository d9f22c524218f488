/** What the server says in English, by that or by the name of what it is about; what is missing stays English. */
export type Translations = Readonly<Record<string, string>>

interface TranslatedProps {
  /** As the server says it, in English. */
  readonly text: string
  /** Undefined where there is no translation. */
  readonly into: string | undefined
  readonly className?: string
}

/** Something that the server says, in the language of the page. */
export function Translated({ text, into, className }: TranslatedProps) {
  return (
    <span className={className} lang={into === undefined ? 'en' : undefined}>
      {into ?? text}
    </span>
  )
}
