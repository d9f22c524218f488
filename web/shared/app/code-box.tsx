import { CopyButton } from '../../uploads/list/link-actions.tsx'
import { useApp } from './app-context.ts'

export function CodeBox({ text, label }: { text: string; label: string }) {
  const { texts } = useApp()
  return (
    <div className="code-box">
      <pre>
        <code>{text}</code>
      </pre>
      <CopyButton copied={texts.copied} label={texts.copy} of={label} text={text} variant="light" />
    </div>
  )
}
