import { type ReactNode, useId } from 'react'
import { useFiles } from '../files-context.ts'

const MIB = 1024 * 1024
const FILES = [1, 10, 100] as const
const SIZES = [10 * MIB, 100 * MIB, 1024 * MIB] as const
const KINDS = {
  pictures: ['image/*'],
  documents: [
    ...['.pdf', '.txt', '.md', '.rtf'],
    ...['.doc', '.docx', '.odt', '.xls', '.xlsx', '.ods', '.csv', '.ppt', '.pptx', '.odp'],
  ],
  recordings: ['video/*', 'audio/*'],
} as const satisfies Readonly<Record<string, readonly string[]>>

export interface UploadLimits {
  /** null: without this limit. */
  readonly maxFiles: number | null
  /** Bytes of each file. */
  readonly maxFileSize: number | null
  /** As in `accept` of HTML. */
  readonly types: readonly string[] | null
}

interface MoreOfLink {
  readonly name: string | null
  readonly message: string | null
  readonly slug: string | null
  readonly limits: UploadLimits
}

/** What the fields of `MoreTerms` in the form say. */
export function moreTermsOf(form: HTMLFormElement): MoreOfLink {
  const said = new FormData(form)
  const text = (name: string) => String(said.get(name) ?? '').trim() || null
  const number = (name: string) => Number(said.get(name)) || null
  const types: Readonly<Record<string, readonly string[]>> = KINDS
  return {
    name: text('name'),
    message: text('message'),
    slug: text('slug'),
    limits: {
      maxFiles: number('max_files'),
      maxFileSize: number('max_file_size'),
      types: types[text('kind') ?? ''] ?? null,
    },
  }
}

/** What few links need: what its page says, an address that can be said aloud, and limits of what it takes. */
export function MoreTerms({ isAsking }: { isAsking: boolean }) {
  const { texts, words, data } = useFiles()
  const { share } = texts
  // Of what is more than the server takes, a link would say what is not so.
  const sizes = SIZES.filter((size) => size < data.maxFileSize)
  return (
    <details className="disclosure more-terms">
      <summary>{share.more}</summary>
      {isAsking ? (
        <>
          <Choice label={share.maxFiles} name="max_files" without={share.anyNumber}>
            {FILES.map((count) => [String(count), words.count(count, texts.filesIn)] as const)}
          </Choice>
          <Choice label={share.maxFileSize} name="max_file_size" without={share.anySize}>
            {sizes.map((size) => [String(size), words.size(size)] as const)}
          </Choice>
          <Choice label={share.kinds} name="kind" without={share.anyKind}>
            {Object.keys(KINDS).map((kind) => [kind, share.kindNames[kind] ?? kind] as const)}
          </Choice>
        </>
      ) : null}
      <Field label={share.name}>{(id) => <input id={id} maxLength={100} name="name" />}</Field>
      <Field label={share.message}>
        {(id) => <textarea id={id} maxLength={2000} name="message" rows={3} />}
      </Field>
      <Field label={share.address} why={share.addressWhy}>
        {(id) => (
          <input
            aria-describedby={`${id}-why`}
            autoCapitalize="none"
            autoComplete="off"
            id={id}
            maxLength={64}
            minLength={3}
            name="slug"
            pattern="[a-z0-9](-?[a-z0-9])*"
            spellCheck={false}
            title={share.addressWhy}
          />
        )}
      </Field>
    </details>
  )
}

interface FieldProps {
  readonly label: string
  readonly why?: string
  readonly children: (id: string) => ReactNode
}

function Field({ label, why, children }: FieldProps) {
  const id = useId()
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      {children(id)}
      {why === undefined ? null : (
        <span className="small quiet" id={`${id}-why`}>
          {why}
        </span>
      )}
    </div>
  )
}

interface ChoiceProps {
  readonly label: string
  readonly name: string
  readonly without: string
  readonly children: readonly (readonly [value: string, text: string])[]
}

function Choice({ label, name, without, children }: ChoiceProps) {
  return (
    <Field label={label}>
      {(id) => (
        <select id={id} name={name}>
          <option value="">{without}</option>
          {children.map(([value, text]) => (
            <option key={value} value={value}>
              {text}
            </option>
          ))}
        </select>
      )}
    </Field>
  )
}
