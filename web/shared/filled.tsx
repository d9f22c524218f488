import { Fragment, type ReactNode } from 'react'

/** The text with every `{name}` replaced by the element of that name. */
export function Filled({ text, values }: { text: string; values: Readonly<Record<string, ReactNode>> }) {
  return text
    .split(/(\{\w+\})/)
    .map((part) => <Fragment key={part}>{values[/^\{(\w+)\}$/.exec(part)?.[1] ?? ''] ?? part}</Fragment>)
}
