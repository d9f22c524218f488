import { type ReactNode, useId } from 'react'
import type { Link } from '../../../src/contract/links.ts'
import { useFiles } from '../files-context.ts'

const MIB = 1024 * 1024
const FILES = [1, 10, 100] as const
const SIZES = [10 * MIB, 100 * MIB, 1024 * MIB] as const
const MOST_DOWNLOADS = 10_000
const KINDS: Readonly<Record<string, readonly string[]>> = {
  pictures: ['image/*'],
  documents: [
    ...['.pdf', '.txt', '.md', '.rtf'],
    ...['.doc', '.docx', '.odt', '.xls', '.xlsx', '.ods', '.csv', '.ppt', '.pptx', '.odp'],
  ],
  recordings: ['video/*', 'audio/*'],
}
/** Kinds set by a program stay. */
const OTHER_KINDS = 'other'

export interface UploadLimits {
  /** Null for no limit. */
  readonly maxFiles: number | null
  /** Bytes. */
  readonly maxFileSize: number | null
  /** As in HTML's `accept`; undefined stays as it is. */
  readonly types: readonly string[] | null | undefined
}

interface MoreOfLink {
  readonly name: string | null
  readonly message: string | null
  readonly slug: string | null
  /** Null for no limit. */
  readonly maxDownloads: number | null
  readonly limits: UploadLimits
}

export function moreTermsOf(form: HTMLFormElement): MoreOfLink {
  const said = new FormData(form)
  const text = (name: string) => String(said.get(name) ?? '').trim() || null
  const number = (name: string) => Number(said.get(name)) || null
  const kind = text('kind')
  return {
    name: text('name'),
    message: text('message'),
    slug: text('slug'),
    maxDownloads: number('max_downloads'),
    limits: {
      maxFiles: number('max_files'),
      maxFileSize: number('max_file_size'),
      types: kind === OTHER_KINDS ? undefined : (KINDS[kind ?? ''] ?? null),
    },
  }
}

interface MoreTermsProps {
  readonly link: Link | null
  readonly isAsking: boolean
  /** The number of downloads is set elsewhere. */
  readonly isOnce?: boolean
}

export function MoreTerms({ link, isAsking, isOnce = false }: MoreTermsProps) {
  const { share } = useFiles().texts
  return (
    <details className="disclosure more-terms">
      <summary>{share.more}</summary>
      {isAsking ? <LimitFields link={link} /> : null}
      {isAsking || isOnce ? null : (
        <Field label={share.maxDownloads} why={share.maxDownloadsWhy}>
          {(id) => (
            <input
              aria-describedby={`${id}-why`}
              defaultValue={link?.max_downloads ?? ''}
              id={id}
              max={MOST_DOWNLOADS}
              min={1}
              name="max_downloads"
              type="number"
            />
          )}
        </Field>
      )}
      <Field label={share.name}>
        {(id) => <input defaultValue={link?.name ?? ''} id={id} maxLength={100} name="name" />}
      </Field>
      <Field label={share.message}>
        {(id) => (
          <textarea defaultValue={link?.message ?? ''} id={id} maxLength={2000} name="message" rows={3} />
        )}
      </Field>
      {link === null ? <AddressField /> : null}
    </details>
  )
}

function LimitFields({ link }: { link: Link | null }) {
  const { texts, words, data } = useFiles()
  const { share } = texts
  const uploads = link?.uploads ?? null
  const [files, size, types] = [
    uploads?.max_files ?? null,
    uploads?.max_file_size ?? null,
    uploads?.types ?? null,
  ]
  // A limit above the server's would promise too much.
  const sizes = SIZES.filter((each) => each < data.maxFileSize)
  const kind = kindOf(types)
  const kinds = Object.keys(KINDS).map((each) => [each, share.kindNames[each] ?? each] as const)
  return (
    <>
      <Choice chosen={files} label={share.maxFiles} name="max_files" without={share.anyNumber}>
        {withChosen(FILES, files).map((count) => [String(count), words.count(count, texts.filesIn)])}
      </Choice>
      <Choice chosen={size} label={share.maxFileSize} name="max_file_size" without={share.anySize}>
        {withChosen(sizes, size).map((each) => [String(each), words.size(each)])}
      </Choice>
      <Choice chosen={kind} label={share.kinds} name="kind" without={share.anyKind}>
        {kind === OTHER_KINDS ? [...kinds, [OTHER_KINDS, types?.join(', ') ?? '']] : kinds}
      </Choice>
    </>
  )
}

function withChosen(choices: readonly number[], chosen: number | null): readonly number[] {
  if (chosen === null || choices.includes(chosen)) return choices
  return [...choices, chosen].sort((a, b) => a - b)
}

function kindOf(types: readonly string[] | null): string | null {
  if (types === null) return null
  const same = Object.keys(KINDS).find((kind) => KINDS[kind]?.join() === types.join())
  return same ?? OTHER_KINDS
}

function AddressField() {
  const { share } = useFiles().texts
  return (
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
  readonly chosen: string | number | null
  readonly children: readonly (readonly [value: string, text: string])[]
}

function Choice({ label, name, without, chosen, children }: ChoiceProps) {
  return (
    <Field label={label}>
      {(id) => (
        <select defaultValue={chosen ?? ''} id={id} name={name}>
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
