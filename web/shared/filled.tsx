import { Fragment, type ReactNode } from 'react'

export function Filled({ text, values }: { text: string; values: Readonly<Record<string, ReactNode>> }) {
  return text
    .split(/(\{\w+\})/)
    .map((part) => <Fragment key={part}>{values[/^\{(\w+)\}$/.exec(part)?.[1] ?? ''] ?? part}</Fragment>)
}
