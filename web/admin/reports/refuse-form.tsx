import { Button, TextInput } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import { ProblemMessage } from '../../shared/app/problem.tsx'
import { useAdmin } from '../admin-context.ts'
import { type TakeDownTarget, takeDown } from '../client.ts'
import { TakeDownDialog } from './take-down-dialog.tsx'

/** Takes down what nobody has reported: by the link of a file, or by the hash of a content that need not be here. */
export function RefuseForm() {
  const { refused, takeDown: texts } = useAdmin().texts
  const [typed, setTyped] = useState('')
  const [problem, setProblem] = useState<string | null>(null)
  const [asked, setAsked] = useState<TakeDownTarget | null>(null)

  function submit(event: FormEvent): void {
    event.preventDefault()
    const content = contentOf(typed.trim())
    setProblem(content === null ? refused.fieldWrong : null)
    setAsked(content)
  }

  return (
    <form className="dialog-form" onSubmit={submit}>
      <TextInput
        autoCapitalize="none"
        autoComplete="off"
        description={refused.fieldHint}
        label={refused.field}
        onChange={({ currentTarget }) => setTyped(currentTarget.value)}
        required
        spellCheck={false}
        value={typed}
        withAsterisk={false}
      />
      <ProblemMessage text={problem} />
      <Button className="add" color="red" type="submit" variant="light">
        {texts.verb}
      </Button>
      {asked === null ? null : (
        <TakeDownDialog
          act={() => takeDown(asked)}
          close={() => setAsked(null)}
          name={'file' in asked ? asked.file : `${asked.sha256.slice(0, 12)}…`}
          // The list below shows it.
          then={() => location.reload()}
        />
      )}
    </form>
  )
}

/** A hash, the link of a file's page, or what ends such a link; null for anything else. */
function contentOf(typed: string): TakeDownTarget | null {
  if (/^[0-9a-f]{64}$/i.test(typed)) return { sha256: typed.toLowerCase() }
  const [, file] = /^(?:https?:\/\/[^/]+\/d\/)?([\w-]+)\/?$/.exec(typed) ?? []
  return file === undefined ? null : { file }
}
